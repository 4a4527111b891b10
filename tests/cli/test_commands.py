"""The commands as a newcomer types them, mistakes included."""

import asyncio
import csv
import io
import json

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawling import opilio
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import HTML, SyntheticAnswer

BEES = "The bee makes honey in the hive. " * 20
WEB = SmallWeb(
    {
        "http://seed.test/": page(
            "Bees", BEES, {"/honey": "About honey", "/sea": "sea"}
        ),
        "http://seed.test/honey": page("=Honey\x1b[2J [red]", BEES + "honey " * 30),
        "http://seed.test/sea": page("The sea", "The ship sails over the sea. " * 20),
    }
)


@pytest.fixture
async def done(crawled):
    """A crawl that has ended."""
    life = await crawled(WEB)
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    return life


async def test_status_counts_what_there_is(done):
    figures = (await opilio("status", done.folder, "--json")).json()
    assert (figures["pages"], figures["kept"]) == (3, 2)
    assert figures["states"] == {"kept": 2, "irrelevant": 1}
    assert figures["harvest_rate"] == pytest.approx(2 / 3)
    shown = await opilio("status", done.folder)
    assert "2  relevant (harvest rate 66.7%" in shown.out


async def test_explain_shows_the_way_and_the_numbers(done):
    ended = await opilio(
        "explain", done.folder, "http://SEED.test:80/honey#x", "--json"
    )
    found = ended.json()
    assert [step["url"] for step in found["way"]] == [
        "http://seed.test/",
        "http://seed.test/honey",
    ]
    assert found["way"][1]["anchor"] == "About honey"
    link = found["link"]
    assert sum(link["parts"].values()) == pytest.approx(link["promise"], abs=1e-5)
    assert sum(found["page"]["parts"].values()) == pytest.approx(found["page"]["score"])
    shown = await opilio("explain", done.folder, "http://seed.test/honey")
    assert "About honey" in shown.out
    assert "Its promise" in shown.out and "Its verdict" in shown.out
    assert "\x1b[2J" not in shown.out  # crawled text does not command the terminal
    assert "[red]" in shown.out


async def test_explain_of_an_unknown_url_says_why(done):
    ended = await opilio("explain", done.folder, "http://nowhere.test/")
    assert ended.code == 2
    assert "no crawled page links to it" in ended.err


async def test_export_writes_json_lines_best_first(done):
    target = done.home / "pages.jsonl"
    ended = await opilio("export", done.folder, "--relevant-only", "-o", target)
    assert ended.code == 0, ended.err
    pages = [json.loads(line) for line in target.read_text().splitlines()]
    assert {p["url"] for p in pages} == {"http://seed.test/honey", "http://seed.test/"}
    assert pages[0]["score"] > pages[1]["score"]
    assert "makes honey" in pages[0]["text"]


async def test_export_writes_csv_without_formulas(done):
    ended = await opilio("export", done.folder, "-f", "csv", "-o", "-")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert len(rows) == 3
    assert not any(cell.startswith("=") for row in rows for cell in row.values())


async def test_export_writes_warc_that_other_tools_read(done):
    target = done.home / "pages.warc.gz"
    await opilio("export", done.folder, "-f", "warc", "--relevant-only", "-o", target)
    with target.open("rb") as file:
        urls = {
            record.rec_headers["WARC-Target-URI"]
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        }
    assert urls == {"http://seed.test/", "http://seed.test/honey"}


async def test_doctor_finds_this_machine_fit(tmp_path):
    ended = await opilio("doctor", tmp_path, "--json")
    findings = {finding["name"]: finding for finding in ended.json()}
    assert findings["readers"]["good"], findings["readers"]
    assert findings["libraries"]["good"]
    assert "wordllama" in findings["vectors"]["detail"]


async def test_doctor_says_what_is_wrong(tmp_path):
    ended = await opilio("doctor", tmp_path, "--url", "http://127.0.0.1:9/")
    assert ended.code == 1
    assert "blocked" in ended.out


async def test_doctor_fetches_a_page_through_a_proxy(tmp_path, crawled):
    life = await crawled(WEB)
    proxy = life.server.proxy_url
    ended = await opilio(
        *("doctor", tmp_path, "--url", "http://seed.test/honey", "--proxy", proxy)
    )
    assert ended.code == 0, ended.out
    assert "http://seed.test/honey answered 200 through the proxy" in ended.out
    assert [one.url for one in life.server.requests] == ["http://seed.test/honey"]
    refused = await opilio("doctor", tmp_path, "--proxy", proxy)
    assert refused.code == 2 and "--url" in refused.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["crawl", "none.toml"], 2, "none.toml does not exist"),
        (["status", "."], 2, "holds no crawl"),
        (["explain", ".", "x"], 2, "is not a URL"),
        (["export", ".", "-o", "-"], 2, "holds no crawl"),
        (["crawl"], 2, "Missing argument"),
        (["crawl", f"{'a' * 200}/{'b' * 5000}.toml"], 2, "aaa…bbb"),
        (["fly"], 2, "No such command"),
    ],
)
async def test_mistakes_are_named(arguments, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = await opilio(*arguments)
    assert ended.code == code
    assert message in " ".join(ended.err.split())
    assert "Traceback" not in ended.err
    assert len(ended.err) < 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--strategy", "best-frist"], "did you mean 'best-first'"),
        (["--judge", "oracle"], "unknown judge 'oracle'; known: "),
        (["--seed-url", "nonsense://x"], "'nonsense://x' is not a URL"),
        (["--allow-network", "300.1.2.3/8"], "300.1.2.3/8"),
        (["--proxy", "ftp://x"], "proxy"),
        (["--replay", "none.warc.gz"], "none.warc.gz is not a WARC file: it does not"),
        (["--replay", "."], "is a folder; give each WARC file in it"),
        (["--replay", "bees.toml"], "bees.toml cannot be read as a WARC file"),
        (["--settings", "none.toml"], "none.toml does not exist"),
    ],
)
async def test_bad_options_are_named_before_anything_is_made(
    options, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bees.toml").write_text(
        'name = "bees"\nkeywords = ["bee"]\nseeds = ["http://seed.test/"]\n'
    )
    ended = await opilio("crawl", "bees.toml", *options)
    assert ended.code == 2, ended.err
    assert message in " ".join(ended.err.split())
    assert not (tmp_path / "bees-crawl").exists()


async def test_a_crawl_without_seeds_says_where_to_put_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bees.toml").write_text('name = "bees"\nkeywords = ["bee"]\n')
    ended = await opilio("crawl", "bees.toml")
    assert ended.code == 2
    assert "--seed-url" in ended.err


async def test_another_topic_in_the_same_folder_is_refused(done):
    done.topic.write_text(done.topic_text.replace("honey", "money"))
    ended = await done.crawl()
    assert ended.code == 2
    assert "--fresh" in ended.err
    assert (await done.crawl("--fresh")).code == 0


async def test_another_strategy_in_the_same_folder_is_refused(done):
    ended = await done.crawl("--strategy", "breadth-first")
    assert ended.code == 2
    assert "opilio" in ended.err


async def test_an_unknown_strategy_or_judge_is_no_other_one(done):
    for option in ("strategy", "judge"):
        ended = await done.crawl(f"--{option}", "best")
        assert ended.code == 2
        assert f"unknown {option} 'best'" in ended.err


async def test_keywords_that_say_nothing_are_told(crawled):
    topic = 'name = "x"\nkeywords = ["the", "of and"]\nseeds = ["http://seed.test/"]\n'
    life = await crawled(WEB, topic_text=topic)
    ended = await life.crawl("--max-pages", 1)
    assert "(the, of and) are words that nearly every page has" in ended.err
    life = await crawled(WEB, topic_text=topic.replace("of and", "of bees"))
    assert (await life.crawl("--max-pages", 1)).err == ""


async def test_a_folder_with_other_things_in_it_is_left_alone(done):
    done.folder = done.home
    ended = await done.crawl()
    assert ended.code == 2
    assert "is not empty and holds no crawl" in ended.err


async def test_a_password_of_the_proxy_is_not_written_down(done):
    proxy = done.server.proxy_url.replace("http://", "http://user:canary@")
    await opilio("crawl", done.folder, "-q", "--proxy", proxy, "--max-pages", 5)
    for path in done.folder.rglob("*"):
        assert path.is_dir() or b"canary" not in path.read_bytes(), path


async def test_the_same_command_goes_on_also_with_a_settings_file(crawled):
    life = await crawled(WEB)
    first = [*life.command("--max-pages", 1)]
    assert (await opilio(*first)).code == 0
    ended = await opilio(*first)
    assert ended.code == 0, ended.err
    ended = await opilio(*life.command("--settings", life.settings, "--max-pages", 3))
    assert ended.code == 0, ended.err
    assert life.rows("SELECT count(*) FROM page") == [(3,)]


async def test_a_refused_process_leaves_the_settings_alone(crawled):
    slow = SyntheticAnswer(200, (HTML,), b"x", delay=30.0)
    life = await crawled(SmallWeb({"http://seed.test/": slow}))
    process = await life.start()
    while not life.server.requests:
        await asyncio.sleep(0.02)
    before = (life.folder / "crawl.toml").read_text()
    assert (await life.crawl("--delay", 7)).code == 2
    assert (life.folder / "crawl.toml").read_text() == before
    process.kill()
    await process.wait()


async def test_a_proxy_with_a_password_must_be_named_again(done):
    proxy = done.server.proxy_url.replace("http://", "http://user:canary@")
    assert (await opilio("crawl", done.folder, "-q", "--proxy", proxy)).code == 0
    ended = await opilio("crawl", done.folder, "-q")
    assert ended.code == 2
    assert "--proxy http://user:password@127.0.0.1" in ended.err


async def test_the_demo_leaves_other_crawls_alone(done):
    ended = await opilio("demo", "-o", done.folder)
    assert ended.code == 2
    assert "holds another crawl" in ended.err
    assert done.rows("SELECT count(*) FROM page") == [(3,)]


async def test_a_lost_database_does_not_cost_the_archive(done):
    big = next((done.folder / "warc").iterdir())
    with big.open("ab") as file:
        file.write(bytes(5000))
    size = big.stat().st_size
    for path in done.folder.glob("crawl.db*"):
        path.unlink()
    ended = await done.crawl()
    assert ended.code == 2
    assert "--fresh" in ended.err
    assert big.stat().st_size == size


async def test_a_damaged_database_is_told(done):
    (done.folder / "crawl.db").write_bytes(b"nonsense" * 1000)
    for path in done.folder.glob("crawl.db-*"):
        path.unlink()
    for command in ("status", "crawl"):
        ended = await opilio(command, done.folder)
        assert ended.code == 2
        assert "crawl.db cannot be used" in ended.err
        assert "Traceback" not in ended.err
