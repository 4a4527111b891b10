"""Whoever crawls other machines can be reached."""

import pytest
from warcio.archiveiterator import ArchiveIterator

from in_process import run
from opilio.errors import BadInput
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.limits.contact import is_here, require_contact, user_agent
from opilio.settings import FetchSettings
from opilio.topic import Sources, Topic, where_to

FAR = "https://bees.example.org/"


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8000/", True),
        ("http://127.9.9.9/", True),
        ("http://[::1]:80/", True),
        ("http://localhost/", True),
        ("http://seed.test/", True),
        ("http://a.localhost:9/", True),
        ("http://10.0.0.1/", False),
        ("http://192.168.1.7/", False),
        (FAR, False),
        ("http://test.org/", False),
    ],
)
def test_loopback_and_reserved_names_are_here(url, here):
    assert is_here(url) is here


def test_a_seed_elsewhere_needs_a_contact():
    with pytest.raises(BadInput, match=r"bees\.example\.org/ is .*--contact ADDRESS"):
        require_contact(FetchSettings(), ["http://seed.test/", FAR])
    require_contact(FetchSettings(), ["http://seed.test/"])
    for contact in ("me@example.org", "https://example.org/about"):
        require_contact(FetchSettings(contact=contact), [FAR])
    require_contact(FetchSettings(user_agent="bees (+https://example.org)"), [FAR])
    with pytest.raises(
        BadInput, match="'nobody' is neither a URL nor an e-mail address"
    ):
        require_contact(FetchSettings(contact="nobody"), [])


def test_search_engines_are_elsewhere_unless_they_are_named_here():
    ours = Sources(search=("searxng:http://127.0.0.1:8888/",), urls=("http://a.test/",))
    require_contact(FetchSettings(), where_to(Topic(name="x", seeds=ours)))
    for engine in ("ddgs", "ddgs:brave", "searxng:https://search.example.org/"):
        theirs = Topic(name="x", seeds=Sources(search=(engine,)))
        with pytest.raises(BadInput, match="on another machine"):
            require_contact(FetchSettings(), where_to(theirs))


def test_the_command_says_how_and_makes_no_folder(tmp_path):
    topic = tmp_path / "bees.toml"
    topic.write_text(f'name = "bees"\nkeywords = ["bee"]\nseeds = ["{FAR}"]\n')
    ended = run("crawl", topic, "-o", tmp_path / "crawl")
    assert ended.code == 2
    assert "give --contact ADDRESS, or set contact in [fetch]" in ended.err
    assert not (tmp_path / "crawl").exists()


async def test_servers_are_told_the_contact_and_a_crawl_remembers_it(crawled):
    web = SmallWeb({"http://seed.test/": page("Bees", "The bee in the hive. " * 30)})
    life = await crawled(web)
    ended = await life.crawl("--contact", "me@example.org")
    assert ended.code == 0, ended.err
    assert 'contact = "me@example.org"' in (life.folder / "crawl.toml").read_text()
    with next((life.folder / "warc").iterdir()).open("rb") as file:
        [agent] = [
            record.http_headers.get_header("user-agent")
            for record in ArchiveIterator(file)
            if record.rec_type == "request"
        ]
    assert agent == user_agent(FetchSettings(contact="me@example.org"))
    assert agent.endswith("; +me@example.org)")
