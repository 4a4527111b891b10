"""PDF files and texts are crawled, judged, kept, searched and exported as pages are."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import opilio
from crawling import serving
from opilio.cli.link_reasons import reason_in_words
from opilio.lab.synthetic.pdf_writer import blocks_of, write_pdf
from opilio.lab.synthetic.server import Server
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import PDF, SyntheticAnswer

TOPIC = opilio.Topic(
    name="bees", keywords=["honey bee", "hive"], seeds=["http://seed.test/"]
)
BEES = "The honey bee makes honey in the hive. " * 20
SHIPS = "The ship sails the sea. " * 20
RANDOM = " ".join(f"{n * 7919**5:x}" for n in range(3000))  # does not compress
LINKS = {
    name: f"the honey bee in the hive: {name}"
    for name in ("/a.pdf", "/ships.pdf", "/broken.pdf", "/large.pdf", "/b.txt", "/c.md")
}


def pdf(title: str, text: str, link: str = "") -> SyntheticAnswer:
    more = f'<p>See <a href="{link}">more about the honey bee</a>.</p>' if link else ""
    markup = f"<h1>{title}</h1><p>{text}</p>{more}"
    body = write_pdf(title, blocks_of(markup, "http://seed.test"))
    return SyntheticAnswer(200, (PDF,), body)


def text(body: str, kind: str = "text/plain") -> SyntheticAnswer:
    return SyntheticAnswer(200, (("content-type", kind),), body.encode())


WEB = SmallWeb(
    {
        "http://seed.test/": page("Bees", BEES, LINKS),
        "http://seed.test/a.pdf": pdf("Bees on paper", BEES + "One smoker.", "/behind"),
        "http://seed.test/behind": page("Behind a PDF", BEES + "Two veils."),
        "http://seed.test/ships.pdf": pdf("Ships on paper", SHIPS),
        "http://seed.test/broken.pdf": SyntheticAnswer(200, (PDF,), b"%PDF-1.4 oh"),
        "http://seed.test/large.pdf": pdf("Large", BEES + RANDOM),
        "http://seed.test/b.txt": text(f"Bees in a text\n\n{BEES} Three gloves."),
        "http://seed.test/c.md": text(f"# Bees in Markdown\n\n{BEES} Four *brushes*."),
    }
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(WEB) as server:
        yield server


def crawl_of(server: Server, folder: Path, **given: object) -> opilio.Crawl:
    quick = {"delay": 0.0, "ip_delay": 0.0, "commit_every": 0.02, "min_free": 0}
    asked = quick | {"proxy": server.proxy_url, "judge": "cosine"} | given
    return opilio.Crawl(folder, TOPIC, **asked)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def crawl(server: Server, tmp_path_factory: pytest.TempPathFactory) -> opilio.Crawl:
    """A crawl that reads all kinds of documents."""
    folder = tmp_path_factory.mktemp("documents") / "crawl"
    crawl = crawl_of(server, folder, documents={"text": True, "pdf_bytes": 5000})
    crawl.run()
    return crawl


def kept(crawl: opilio.Crawl) -> set[str]:
    return {page.url.rpartition("/")[2] for page in crawl.pages(relevant=True)}


def test_documents_are_judged_and_their_links_followed(crawl: opilio.Crawl) -> None:
    assert kept(crawl) == {"", "a.pdf", "behind", "b.txt", "c.md"}
    assert crawl.explain("http://seed.test/ships.pdf").link["state"] == "irrelevant"


def test_documents_that_cannot_be_read_end_with_a_reason(crawl: opilio.Crawl) -> None:
    for name, reason in (("broken", "pdf_broken"), ("large", "too_large")):
        link = crawl.explain(f"http://seed.test/{name}.pdf").link
        assert (link["state"], link["reason"]) == ("unusable", reason)
        assert "PDF" in reason_in_words(reason)


def test_exports_have_document_type_text_and_markdown(
    crawl: opilio.Crawl, tmp_path: Path
) -> None:
    crawl.export(tmp_path / "pages.jsonl")
    lines = (tmp_path / "pages.jsonl").read_text().splitlines()
    rows = {row["url"].rpartition("/")[2]: row for row in map(json.loads, lines)}
    paper = rows["a.pdf"]
    assert (paper["document"], paper["pages"]) == ("application/pdf", 1)
    assert paper["title"] == "Bees on paper" and paper["text"].count(BEES.strip()) == 1
    assert paper["markdown"].startswith("# Bees on paper\n\nThe honey bee")
    assert (rows["b.txt"]["document"], rows["b.txt"]["pages"]) == ("text/plain", None)
    assert rows["c.md"]["document"] == "text/markdown"
    assert "Four *brushes*." in rows["c.md"]["markdown"]
    assert rows[""]["document"] == "text/html"


@pytest.mark.parametrize(
    ("query", "title"),
    [("smoker", "Bees on paper"), ("brushes", "Bees in Markdown")],
)
def test_documents_are_found_with_a_snippet(
    crawl: opilio.Crawl, query: str, title: str
) -> None:
    [hit] = crawl.search(query).hits
    assert hit.title == title
    assert query in "".join(piece.text for piece in hit.snippet)


def test_programs_get_text_and_markdown_but_no_html(crawl: opilio.Crawl) -> None:
    [paper] = [p for p in crawl.pages(relevant=True) if p.url.endswith("a.pdf")]
    assert "One smoker." in paper.text and "# Bees on paper" in paper.markdown
    assert paper.response().body.startswith(b"%PDF-")
    with pytest.raises(opilio.BadInput, match=r"no HTML page \(pdf\)"):
        _ = paper.html


def test_documents_can_be_switched_off(server: Server, tmp_path: Path) -> None:
    crawl = crawl_of(server, tmp_path / "crawl", documents={"pdf": False})
    crawl.run()
    assert kept(crawl) == {""}
    for name in ("a.pdf", "b.txt", "c.md"):
        link = crawl.explain(f"http://seed.test/{name}").link
        assert (link["state"], link["reason"]) == ("unusable", "not_html")


def test_pdf_files_are_read_unless_told_otherwise(
    server: Server, tmp_path: Path
) -> None:
    crawl = crawl_of(server, tmp_path / "crawl")
    crawl.run()
    assert kept(crawl) == {"", "a.pdf", "behind", "large.pdf"}
    crawl.rejudge(topic=opilio.Topic(name="ships", keywords=["ship", "sea"]))
    assert "ships.pdf" in kept(crawl) and "a.pdf" not in kept(crawl)
    [hit] = crawl.search("sails").hits
    assert hit.title == "Ships on paper"


def test_archives_are_replayed_with_their_documents(
    crawl: opilio.Crawl, tmp_path: Path
) -> None:
    crawl.export(tmp_path / "pages.warc.gz")
    again = opilio.Crawl(
        tmp_path / "crawl", TOPIC, judge="cosine", replay=[tmp_path / "pages.warc.gz"]
    )
    again.run()
    assert {"", "a.pdf", "behind"} <= kept(again)
