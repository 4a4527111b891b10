"""Classes of example pages: learnt, followed over a small web, and from an archive."""

import random
from pathlib import Path

import numpy as np
import pytest

from fetch.local_egress import opened
from opilio import settings
from opilio.errors import BadInput, Transient, Unusable
from opilio.fetch.http import HttpFetch
from opilio.fetch.replay import ReplayFetch
from opilio.fetch.robots import Robots
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.small import SmallWeb, page, redirect
from opilio.read.html import PageReader
from opilio.records import Page, ReaderSetup, Response, RobotsRecord
from opilio.store.warc_records import pack_response
from opilio.topic.class_model import WIDTH, learn_classes, load_classes
from opilio.topic.classes import learn, own_url, read_class_examples
from opilio.topic.linked_pages import NOWHERE, Pace, targets, train_one

WORDS = {
    "course": "syllabus lecture credit semester exam module teacher timetable",
    "people": "professor phone office email biography staff room secretary",
    "news": "press release yesterday event award announced visit minister",
}
SITE = "http://uni.test"


def text(name: str, seed: int) -> str:
    chance = random.Random(f"{name} {seed}")
    return " ".join(chance.choices(WORDS[name].split(), k=40))


def address(name: str, number: int) -> str:
    return f"/{name}{number}.html"


# Each course links to three people and one course, each of the people to a course.
def links_of(name: str, number: int) -> list[str]:
    if name == "course":
        links = [address("people", (number + step) % 6) for step in range(3)]
        return [*links, address("course", (number + 1) % 6)]
    if name == "people":
        return [address("course", number), "/gone.html", "/moved.html"]
    return []


def small_web() -> dict[str, object]:
    pages = {
        SITE + address(name, number): page(
            "Page",
            text(name, number),
            dict.fromkeys(links_of(name, number), "more"),
        )
        for name in WORDS
        for number in range(6)
    }
    return {**pages, f"{SITE}/moved.html": redirect("/news1.html")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """train-0: the first three pages of each class, saved."""
    pages = small_web()
    for name in WORDS:
        (tmp_path / "train0" / name).mkdir(parents=True)
        for number in range(3):
            url = SITE + address(name, number)
            saved = f"<!-- saved from url=(0014){url} -->\n{pages[url]}"
            path = tmp_path / "train0" / name / f"{number}.html"
            path.write_text(saved)
    return tmp_path / "train0"


@pytest.fixture
def read():
    return PageReader(ReaderSetup((), "en", vector=True)).read


class NoRecords:
    """Remembers no robots.txt between tests."""

    def load(self, origin: str) -> RobotsRecord | None:
        return None

    def save(self, record: RobotsRecord) -> None:
        pass


def check_rules(model, rules) -> None:
    assert model.classes == ("course", "news", "people")
    # Together the three courses link to people 0 to 4 and courses 1 to 3, each once.
    assert rules.counts["course"] == {"people": 5, "course": 3}
    # The people link to courses 0 to 2, and all of them by a redirect to one news page.
    assert rules.counts["people"] == {"course": 3, "news": 1}
    assert rules.counts["news"] == {}
    shown = [str(rule) for rule in rules.rows()]
    assert shown[0] == "course → people (0.625)"
    assert rules.look_ahead("news", "course", 2) == 0


async def test_rules_are_learnt_live_from_a_served_web(folder, read):
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    pace = Pace(0.01, sleep=sleep)
    async with (
        serve(SmallWeb(small_web())) as server,
        opened(proxy=server.proxy_url) as egress,
    ):
        robots = Robots(egress.get, NoRecords(), "opilio", pause=0.0)
        politeness = settings.PolitenessSettings(delay=0.0)
        fetch = HttpFetch(
            egress, robots, politeness, settings.FetchSettings(), pace.learn
        )
        check_rules(*await learn(folder, fetch, read, pace=pace))
    assert waits


async def test_rules_are_learnt_from_an_archive_the_same_each_time(
    folder, read, tmp_path
):
    path = tmp_path / "web.warc.gz"
    web = SmallWeb(small_web())
    with path.open("wb") as file:
        for url in small_web():
            answer = web.respond(url)
            file.write(
                pack_response(
                    Response(url, answer.status, answer.headers, answer.body, 1e9)
                )
            )
    fetch = ReplayFetch([path])
    try:
        model, rules = await learn(folder, fetch, read)
        again, same_rules = await learn(folder, fetch, read)
    finally:
        await fetch.close()
    check_rules(model, rules)
    assert again.dump() == model.dump()
    assert same_rules.dump() == rules.dump()


# train-0


@pytest.mark.parametrize(
    ("markup", "url"),
    [
        ("<!-- saved from url=(0021)http://a.test/b/c.htm --><html>", "http://a.test/b/c.htm"),
        ("<link rel='shortcut canonical' href='http://a.test/?x=1&amp;y=2'>", "http://a.test/?x=1&y=2"),
        ("<base href='http://a.test/b/'>", "http://a.test/b/"),
        (
            "<base href='http://a.test/b/'><link rel=canonical href=http://a.test/c>",
            "http://a.test/c",
        ),
        ("<link rel=canonical href='/relative'><base href='http://a.test/'>", "http://a.test/"),
        ("<link rel=stylesheet href='http://a.test/x.css'>", ""),
        ("<base href='file:///home/me/'>", ""),
        ("<!-- <base href='http://a.test/'> --><![if", ""),
    ],
)  # fmt: skip
def test_a_saved_page_says_where_it_is_from(markup, url):
    assert own_url(markup) == url


def test_a_list_says_where_pages_are_from(folder):
    listed = "# comment\n0.html\thttp://b.test/listed\n\n"
    (folder / "news" / "urls.tsv").write_text(listed)
    found = {example.path: example for example in read_class_examples(folder)}
    assert found[str(folder / "news/0.html")].url == "http://b.test/listed"
    assert found[str(folder / "news/1.html")].url == f"{SITE}/news1.html"
    assert [example.name for example in found.values()].count("news") == 3


def test_a_bad_list_is_named_by_its_line(folder):
    (folder / "news" / "urls.txt").write_text("0.html\thttp://a.test/\n1.html news\n")
    with pytest.raises(BadInput, match=r"urls\.txt, line 2: write name<TAB>"):
        read_class_examples(folder)


def test_what_browsers_save_beside_a_page_is_no_class_and_no_page(folder):
    (folder / "course" / "0_files").mkdir()
    (folder / "0_files").mkdir()
    (folder / ".git").mkdir()
    (folder / "course" / "style.css").write_text("p {}")
    assert {example.name for example in read_class_examples(folder)} == set(WORDS)
    assert len(read_class_examples(folder)) == 9


def test_a_class_without_pages_is_named(folder):
    (folder / "empty").mkdir()
    with pytest.raises(BadInput, match=r"empty: no example page"):
        read_class_examples(folder)


def test_one_class_is_too_few(tmp_path):
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "x.html").write_text("<p>x")
    with pytest.raises(BadInput, match="1 classes, but at least two"):
        read_class_examples(tmp_path)
    with pytest.raises(BadInput, match="nowhere: cannot be read"):
        read_class_examples(tmp_path / "nowhere")


# train-1


class Answers:
    """A Fetch whose answers are written down; a list is given one by one."""

    def __init__(self, known) -> None:
        self.known = known
        self.asked: list[str] = []

    async def fetch(self, url: str) -> Response:
        self.asked.append(url)
        answer = self.known.get(url)
        if isinstance(answer, list):
            answer = answer.pop(0)
        if answer is None:
            raise Unusable("http_404", f"{url} is gone")
        if isinstance(answer, Exception):
            raise answer
        return Response(url, 200, (("content-type", "text/html"),), answer, 0.0)

    async def close(self) -> None: ...


def linking(read, url: str, *hrefs: str) -> Page:
    markup = "".join(f"<a href='{href}'>x</a>" for href in hrefs)
    return read(Response(url, 200, (), markup.encode(), 0.0))


async def test_links_of_all_examples_are_taken_in_turns_up_to_the_limit(read):
    examples = [
        ("a", linking(read, "http://x.test/", "/1", "/2", "/3")),
        ("a", linking(read, "http://x.test/other", "/4", "/1")),
        ("b", linking(read, "http://x.test/third", "/1")),
    ]
    fetch = Answers({f"http://x.test/{number}": b"<p>hi" for number in range(9)})
    found = await train_one(examples, fetch, read, limit_per_class=3)
    assert [(one.source, one.page.url[-1]) for one in found] == [
        ("a", "1"),
        ("a", "4"),
        ("a", "3"),
        ("b", "1"),
    ]
    assert len(fetch.asked) == 3  # each page once, whoever links to it


def test_links_are_taken_from_all_over_a_page(read):
    """The first ones are navigation, which says nothing about the class."""
    page = linking(read, "http://x.test/", *(f"/{number}" for number in range(100)))
    places = [int(url.rpartition("/")[2]) for url in targets([("a", page)], "a")]
    assert sorted(places) == list(range(100))
    for taken in (5, 10, 30):
        tenths = [place // 20 for place in places[:taken]]
        assert max(map(tenths.count, range(5))) <= 0.4 * taken


async def test_relative_links_of_a_page_from_nowhere_are_not_followed(read):
    examples = [("a", linking(read, NOWHERE, "/1", "http://x.test/2"))]
    fetch = Answers({"http://x.test/2": b"<p>hi"})
    found = await train_one(examples, fetch, read)
    assert [one.page.url for one in found] == ["http://x.test/2"]
    assert fetch.asked == ["http://x.test/2"]


async def test_a_page_that_may_come_later_is_asked_for_again(read):
    later = Transient("http_503", "later", after=7.0)
    fetch = Answers(
        {"http://x.test/1": [later, b"<p>hi"], "http://x.test/2": [later, later, later]}
    )
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    examples = [("a", linking(read, "http://x.test/", "/1", "/2"))]
    pace = Pace(0.0, sleep=sleep)
    found = await train_one(examples, fetch, read, pace=pace)
    assert [one.page.url for one in found] == ["http://x.test/1"]
    assert waits == [7.0, 7.0, 7.0]


async def test_hosts_rest_between_requests_each_on_its_own():
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    pace = Pace(1.0, now=lambda: 100.0, sleep=sleep)
    await pace.learn("slow.test", delay=5.0)
    await pace.learn("x.test", ip="127.0.0.1")
    for host in ("x.test", "slow.test", "x.test", "slow.test", "x.test"):
        await pace.turn(host)
    assert waits == [1.0, 5.0, 2.0]


async def test_examples_that_lead_nowhere_are_an_error_that_says_what_to_do(read):
    nothing = [("a", linking(read, NOWHERE, "/1"))]
    with pytest.raises(BadInput, match=r"urls\.tsv"):
        await train_one(nothing, Answers({}), read)
    gone = [("a", linking(read, "http://x.test/", "/1"))]
    with pytest.raises(BadInput, match=r"none of the 1 pages .*x\.test/1 is gone"):
        await train_one(gone, Answers({}), read)


async def test_a_redirect_in_circles_gives_no_page(read):
    class Circle(Answers):
        async def fetch(self, url: str) -> Response:
            self.asked.append(url)
            return Response(url, 302, (("location", "/1"),), b"", 0.0)

    fetch = Circle({})
    examples = [("a", linking(read, "http://x.test/", "/1"))]
    with pytest.raises(BadInput, match="leads to no page"):
        await train_one(examples, fetch, read)
    assert len(fetch.asked) == 6


# The model


@pytest.mark.parametrize("names", [("course", "people"), tuple(WORDS)])
def test_new_pages_are_told_apart_and_the_model_survives_a_restart(read, names):
    def example(name: str, seed: int) -> Page:
        return read(Response(SITE, 200, (), f"<p>{text(name, seed)}".encode(), 0.0))

    pages = [(name, example(name, seed)) for name in names for seed in range(4)]
    model = learn_classes(pages)
    again = load_classes(model.dump())
    for name in names:
        new = example(name, 99)
        likely = model.distribution(new)
        assert model.classify(new) == name
        assert sum(likely.values()) == pytest.approx(1.0)
        assert likely[name] > 0.5
        assert again.distribution(new) == likely
    assert model.weights.shape == (len(names), WIDTH)
    assert learn_classes(pages).dump() == model.dump()


def test_a_page_without_words_has_a_class_too(read):
    empty = read(Response(SITE, 200, (), b"", 0.0))
    word = read(Response(SITE, 200, (), b"<p>word", 0.0))
    other = read(Response(SITE, 200, (), b"<p>other", 0.0))
    model = learn_classes([("a", word), ("b", other)])
    assert model.distribution(empty)["a"] == pytest.approx(0.5, abs=0.01)
    with pytest.raises(BadInput, match="no example page has any words"):
        learn_classes([("a", empty), ("b", empty)])
    with pytest.raises(BadInput, match="two or more classes, not 1"):
        learn_classes([("a", word)])


def test_a_spoilt_model_is_refused(read):
    word = read(Response(SITE, 200, (), b"<p>word", 0.0))
    dumped = learn_classes([("a", word), ("b", word)]).dump()
    for spoilt in (b"", b"PK", dumped[: len(dumped) // 2]):
        with pytest.raises(BadInput, match=r"models/classes\.npz: .*learns "):
            load_classes(spoilt, "models/classes.npz")


def test_probabilities_are_those_of_a_softmax(read):
    word = read(Response(SITE, 200, (), b"<p>word", 0.0))
    model = learn_classes([("a", word), ("b", word), ("c", word)])
    model.weights = np.zeros_like(model.weights)
    model.bias = np.log(np.array([1, 2, 5], np.float32))
    likely = list(model.distribution(word).values())
    assert likely == pytest.approx([1 / 8, 2 / 8, 5 / 8])
