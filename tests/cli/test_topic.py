"""`opilio topic`: a file to crawl by from queries, an ontology, pages or words."""

import re
import tomllib
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from crawling import opilio
from opilio.cli import app
from opilio.cli.topic import topic_app
from opilio.errors import BadInput
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.records import Response
from opilio.store.warc_records import pack_response
from opilio.topic import load_topic

TOPIC_COMMANDS = typer.main.get_command(topic_app).commands  # type: ignore

# Meenu et al., 3.1.1.
QUERIES = """Kejriwal new manifesto for lok sabha polls 2014.
Manifesto of BJP for lok sabha polls 2014.
lok sabha polls 2014 dates"""

ONTOLOGY = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://bees.test/> .
:insect a skos:Concept ; skos:prefLabel "insect"@en .
:bee a skos:Concept ; skos:prefLabel "bee"@en, "Biene"@de ;
    skos:altLabel "honey bee"@en ; skos:broader :insect .
:queen a skos:Concept ; skos:prefLabel "queen bee"@en ; skos:broader :bee .
:hive a skos:Concept ; skos:prefLabel "hive"@en ; skos:related :bee .
"""

BEES = [
    "The bee makes honey; the swarm left its hive. Bees dance.",
    "A hive of bees, honey and wax. The swarm flies; honey bees dance.",
    "Swarm after swarm: bees, hive, honey, nectar and pollen.",
]
SHIPS = ["The ship sails over the sea, and the harbour is near."]
TEXT = "The bee makes honey in the hive. The queen bee leads the swarm. " * 10
WEB = SmallWeb(
    {
        "http://seed.test/": page("Bees", TEXT, {"/honey": "honey", "/sea": "sea"}),
        "http://seed.test/honey": page("Honey", TEXT + "honey " * 30),
        "http://seed.test/sea": page("The sea", "The ship sails over the sea. " * 20),
    }
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with something of every kind."""
    (tmp_path / "queries.txt").write_text(QUERIES)
    (tmp_path / "asked.txt").write_text("bee\t3\nhoney bee\nqueen bee honey\n")
    (tmp_path / "bees.ttl").write_text(ONTOLOGY)
    for name, texts in (("good", BEES), ("bad [1]", SHIPS)):
        (tmp_path / name).mkdir()
        for number, text in enumerate(texts):
            body = f"<title>x</title><p>{text}</p>"
            (tmp_path / name / f"{number}.html").write_text(body)
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_a_query_log_gives_the_table_of_the_paper(home: Path):
    """Meenu et al., table I."""
    built = await opilio(
        *("topic", "build", "--queries", "queries.txt", "--phrase", "lok sabha"),
        *("--mode", "paper", "--name", "Elections", "--json"),
    )
    assert built.code == 0, built.err
    assert built.json()["weights"] == {
        "lok sabha": 1.5,
        "polls": 1.5,
        "2014": 1.5,
        "manifesto": 1.0,
    }
    assert "opilio crawl elections.toml --seed-url URL" in built.err
    topic = load_topic(home / "elections.toml")
    assert topic.query_log.file == str(home / "queries.txt")  # which is followed
    assert topic.keywords == ()
    shown = await opilio("topic", "show", "elections.toml")
    assert "1.500\tlok sabha\n" in shown.out
    assert "0.500\tdates\tbelow the threshold" in shown.out


async def test_an_ontology_gives_the_words_near_a_concept(home: Path):
    built = await opilio("topic", "build", "--ontology", "bees.ttl", "--concept", "bee")
    assert built.code == 0, built.err
    topic = load_topic(home / "bee.toml")
    weights = topic.weights()
    assert weights["bee"] == weights["honey bee"] == 1.0 > weights["queen bee"]
    assert "Biene" not in weights  # a topic's words are in its language
    assert topic.ontology.concepts == ("bee",)
    tables = (await opilio("topic", "show", "bee.toml", "--json")).json()
    assert tables["importance"]["queen bee"] > tables["importance"]["insect"]
    assert tables["targets"] == ["bee"]


async def test_example_pages_give_the_words_that_tell_them(home: Path):
    built = await opilio(
        *("topic", "build", "--examples", "good", "--irrelevant", "bad [1]"),
        *("--name", "bees", "--top", "5", "-o", "sub.toml"),
    )
    assert built.code == 0, built.err
    assert "3 relevant, 1 irrelevant" in built.out
    text = (home / "sub.toml").read_text()
    assert "# of 3 example pages" in text
    assert tomllib.loads(text)["examples"]["relevant"] == ["good/*.html"]
    topic = load_topic(home / "sub.toml")
    assert len(topic.keywords) == 5
    assert {"bees", "honey", "hive"} <= topic.weights().keys()


async def test_phrases_of_the_ontology_are_found_in_queries(home: Path):
    built = await opilio(
        *("topic", "build", "--queries", "asked.txt"),
        *("--ontology", "bees.ttl", "--concept", "bee", "--json"),
    )
    assert built.code == 0, built.err
    topic = load_topic(home / "bee.toml")
    assert set(topic.query_log.phrases) == {"honey bee", "queen bee"}
    assert built.json()["query_log"]["queries"] == 5


@pytest.mark.parametrize(
    "options",
    [
        ["--keywords", "bee, honey,  queen bee"],
        ["--queries", "asked.txt"],
        ["--ontology", "bees.ttl", "--concept", "bee"],
        ["--examples", "good"],
    ],
)
async def test_what_is_built_can_be_crawled_as_it_is(crawled, home: Path, options):
    life = await crawled(WEB)
    built = await opilio(
        "topic", "build", *options, "--seed-url", "http://seed.test/", "-o", "t.toml"
    )
    assert built.code == 0, built.err
    life.topic = home / "t.toml"
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    states = life.states()
    assert states["http://seed.test/honey"][0] == "kept"
    assert states["http://seed.test/sea"][0] == "irrelevant"


async def test_the_rules_between_classes_are_shown(home: Path):
    """Kumar & Vig, III.G: of the links from a class, the share that leads to each."""
    topics = {"bees": TEXT, "ships": "The ship sails over the sea to its harbour. " * 9}
    links = {"bees": ["bees", "bees", "ships"], "ships": ["ships"]}
    records = []
    for name, text in topics.items():
        folder = home / "train0" / name
        folder.mkdir(parents=True)
        for number in range(4):
            targets = [
                f"<a href='http://x.test/{target}/{place}'>x</a>"
                for place, target in enumerate(links[name])
            ]
            head = f"<link rel=canonical href='http://x.test/{name}/own{number}'>"
            body = f"{head}<p>{text} {number}</p>{''.join(targets)}"
            (folder / f"{number}.html").write_text(body)
        for place in range(3):
            url = f"http://x.test/{name}/{place}"
            records.append(pack_response(response(url, f"<p>{text} more {place}</p>")))
    (home / "pages.warc.gz").write_bytes(b"".join(records))
    (home / "c.toml").write_text(
        'name = "c"\nkeywords = ["bee"]\n'
        '[classes]\nfolder = "train0"\ntarget = "bees"\n'
    )
    shown = await opilio("topic", "show", "c.toml", "--replay", "pages.warc.gz")
    assert shown.code == 0, shown.err
    rules = dict(re.findall(r"(0\.667|0\.333|1\.000)\t(\w+ → \w+)", shown.out))
    assert rules == {
        "0.667": "bees → bees",
        "0.333": "bees → ships",
        "1.000": "ships → ships",
    }
    without = await opilio("topic", "show", "c.toml")
    assert "--replay" in without.err


def response(url: str, body: str) -> Response:
    headers = [("content-type", "text/html")]
    return Response(url, 200, headers, body.encode(), 1.8e9)


async def test_a_file_that_is_there_is_not_written_over(home: Path):
    (home / "bee.toml").write_text("mine")
    ended = await opilio("topic", "build", "--keywords", "bee")
    assert ended.code == 2
    assert "--force" in ended.err
    assert (home / "bee.toml").read_text() == "mine"
    ended = await opilio("topic", "build", "--keywords", "bee", "--force")
    assert ended.code == 0
    assert load_topic(home / "bee.toml").weights() == {"bee": 1.0}


async def test_foreign_words_command_neither_the_terminal_nor_the_file(home: Path):
    (home / "evil.txt").write_text('x"]\x1b[2J[red]\u202e evil\n' * 3)
    ended = await opilio(
        *("topic", "build", "--queries", "evil.txt"),
        *(
            "--keywords",
            'a"]\nb = [\x1b[2J[red]',
            "--name",
            'n"\x1b\n[x]',
            "-o",
            "e.toml",
        ),
    )
    assert ended.code == 0, ended.err
    assert "\x1b" not in ended.out and "\u202e" not in ended.out
    assert "[red]" in ended.out
    assert load_topic(home / "e.toml").name == 'n"\x1b [x]'


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give one of --keywords, --search, --queries, --ontology or"),
        (["--queries", "none.txt"], "none.txt does not exist"),
        (["--queries", "empty.txt"], "empty.txt is empty"),
        (["--ontology", "none.ttl", "--concept", "x"], "none.ttl does not exist"),
        (["--ontology", "bees.ttl"], "give --concept NAME"),
        (["--ontology", "bees.ttl", "--concept", "insekt"], "similar: insect"),
        (["--concept", "bee"], "a topic needs a source"),
        (["--examples", "nowhere"], "nowhere does not exist"),
        (["--examples", "void"], "void has no pages in it"),
        (["--examples", "picture.html"], "picture.html is not a web page"),
        (["--examples", "blank.html"], "no words can be read"),
        (["--keywords", "a", "--seed-url", "ftp://x"], "'ftp://x' is not a URL"),
        (["--keywords", "a", "-o", "no/t.toml"], "no is not a folder"),
    ],
)
def test_what_cannot_be_used_is_named(home: Path, options, message):
    (home / "void").mkdir()
    (home / "empty.txt").write_text("\n")
    (home / "picture.html").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (home / "blank.html").write_text("<p></p>")
    (home / "topic.toml").write_text("")  # is no reason to speak of that first
    before = sorted(home.iterdir())
    ended = CliRunner().invoke(app, ["topic", "build", *options])
    assert isinstance(ended.exception, BadInput), ended.output
    assert message in str(ended.exception)
    assert sorted(home.iterdir()) == before


async def test_a_mistake_is_told_without_a_traceback(home: Path):
    ended = await opilio("topic", "show", "none.toml")
    assert ended.code == 2
    assert ended.err == "opilio: none.toml does not exist; check the name\n"


@pytest.mark.parametrize("command", TOPIC_COMMANDS)
def test_an_option_is_documented_and_has_help(command: str):
    text = (Path(__file__).parents[2] / "docs" / "reference/commands.md").read_text()
    assert f"`opilio topic {command}" in text
    for option in TOPIC_COMMANDS[command].params:
        assert option.help, option.name
        longest = max(option.opts, key=len)
        if longest.startswith("--") and longest not in ("--help", "--json"):
            assert longest in text, longest


async def test_classes_are_written_into_the_topic_file(home: Path):
    for name in ("bees", "ships"):
        (home / "train0" / name).mkdir(parents=True)
        (home / "train0" / name / "1.html").write_text(f"<p>{name}")
    words = ("topic", "build", "--keywords", "bee")
    built = await opilio(*words, "--classes", "train0", "--target", "bees")
    assert built.code == 0, built.err
    topic = load_topic(home / "bee.toml")
    assert (topic.classes.folder, topic.classes.target) == (
        str(home / "train0"),
        "bees",
    )
    for options, message in (
        (["--classes", "train0"], "--target NAME"),
        (["--classes", "train0", "--target", "bee"], "it has: bees, ships"),
        (["--classes", "none", "--target", "bees"], "none: cannot be read"),
    ):
        ended = await opilio(*words, "--force", *options)
        assert ended.code == 2
        assert message in ended.err.replace("\n", " ")
