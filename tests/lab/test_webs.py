"""Webs for the lab, written and opened again."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from opilio.errors import BadInput
from opilio.lab.synthetic.dials import CALM, Dials
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.lab.webs import LabWeb, open_web, write_static_site, write_web

WEB = SyntheticWeb(Dials(pages=400, hosts=12))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web")
    write_web(WEB, folder)
    return folder


def records(web: LabWeb) -> dict[str, tuple[int, str, bytes]]:
    found = {}
    with web.warcs[0].open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            url = record.headers["WARC-Target-URI"]
            assert url not in found
            location = record.http_headers.get("location", "")
            found[url] = (
                record.http_headers.status_code,
                location,
                record.reader.read(),
            )
    return found


def test_what_was_written_is_read_again(folder: Path) -> None:
    found = records(open_web(folder))
    for url in WEB.urls():
        status, _, body = found[url]
        assert status == 200
        answers = (WEB.respond(url, attempt) for attempt in range(20))
        assert body in [answer.body for answer in answers]


def test_redirects_dead_links_and_robots_are_records_too(folder: Path) -> None:
    found = records(open_web(folder))
    assert {status for status, _, _ in found.values()} == {200, 301, 302, 404, 503}
    for status, location, _ in found.values():
        assert (status in (301, 302)) == (location in found)
    assert all(f"http://{host}/robots.txt" in found for host in WEB.hosts)
    assert set(WEB.detours()) <= set(found)


def test_another_tool_finds_every_record_whole(folder: Path) -> None:
    with (folder / "pages.warc.gz").open("rb") as file:
        records = WarcioIterator(file, check_digests="raise")
        count = 0
        for record in records:
            record.content_stream().read()
            count += record.rec_type == "response"
    assert count > 400


def test_labels_are_those_of_the_web(folder: Path) -> None:
    labels: dict[str, list[str]] = {}
    for line in open_web(folder).labels.read_text().splitlines():
        url, label = line.split("\t")
        labels.setdefault(url, []).append(label)
    assert labels == {
        url: list(WEB.labels(url)) for url in WEB.urls() if WEB.labels(url)
    }


def test_topics_start_at_pages_of_the_web(folder: Path) -> None:
    web = open_web(folder)
    found = records(web)
    assert set(web.topics) <= set(WEB.topics)
    assert len(web.topics) > 8
    for name, path in web.topics.items():
        topic = tomllib.loads(path.read_text())
        assert topic["name"] == name
        assert topic["evaluation"]["relevant_labels"] == [name]
        assert all(found[url][0] == 200 for url in topic["seeds"])


def test_a_web_is_written_the_same_every_time(folder: Path, tmp_path: Path) -> None:
    again = write_web(SyntheticWeb(WEB.dials), tmp_path)
    assert again.warcs[0].read_bytes() == (folder / "pages.warc.gz").read_bytes()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"warcs": ["no.warc.gz"]}, "warcs names .*no.warc.gz, which does not exist"),
        ({"warcs": []}, "name at least one WARC"),
        ({"labels": "no.tsv"}, "labels names .*no.tsv"),
        ({"topics": "nowhere"}, "nowhere, which is not a folder"),
        ({"topics": "empty"}, "has no topic files"),
        ({"label": "x"}, "did you mean 'labels'"),
        ({"name": 3}, "name: expected `str`, got `int`"),
    ],
)
def test_a_web_with_a_mistake_is_refused(
    tmp_path: Path, change: dict[str, object], complaint: str
) -> None:
    (tmp_path / "topics").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "topics" / "a.toml").touch()
    (tmp_path / "a.warc.gz").touch()
    (tmp_path / "labels.tsv").touch()
    good: dict[str, object] = {
        "name": "a",
        "title": "A",
        "warcs": ["a.warc.gz"],
        "labels": "labels.tsv",
    }

    def write(web: dict[str, object]) -> None:
        lines = [f"{key} = {msgspec.json.encode(web[key]).decode()}" for key in web]
        (tmp_path / "web.toml").write_text("\n".join(lines))

    write(good)
    assert open_web(tmp_path).topics == {"a": tmp_path / "topics" / "a.toml"}
    write(good | change)
    with pytest.raises(BadInput, match=complaint):
        open_web(tmp_path)


def test_a_folder_that_is_no_web_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"web\.toml does not exist"):
        open_web(tmp_path)


def test_a_static_site_has_a_file_for_each_page_and_link(tmp_path: Path) -> None:
    web = SyntheticWeb(msgspec.structs.replace(CALM, pages=120, hosts=1, hidden=0))
    count = write_static_site(web, tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == count == 1 + len(list(web.urls()))
    hrefs = {
        href
        for file in files
        for href in re.findall(r'href="([^"]*)"', file.read_text())
    }
    assert len(hrefs) > 100
    for href in hrefs:
        path = tmp_path / href.lstrip("/")
        assert (path / "index.html" if href.endswith("/") else path).is_file()
    assert (tmp_path / "robots.txt").read_text().startswith("User-agent")
