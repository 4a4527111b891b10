"""MCORE: the golden tests of papers.md A.6 through the strategy, and whole crawls."""

from math import exp

import msgspec
import pytest

from opilio.errors import BadInput
from opilio.lab.synthetic import lexicon
from opilio.lab.synthetic.dials import CALM
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.records import (
    ExampleLink,
    Knowledge,
    Lease,
    Page,
    Ranked,
    ReaderSetup,
    Response,
    State,
    Subject,
    Verdict,
)
from opilio.settings import build_section
from opilio.strategies.mcore import Mcore, McoreOptions
from opilio.subject.compile import compile_topic, setup_for
from opilio.subject.page_reader import make_reader
from opilio.text.words import Vocabulary
from opilio.topic import load_topic
from opilio.topic.rules import ClassRules

# Kumar & Vig, table 1; papers.md A.4.
TABLE_1 = {
    "Comp. Sc. And Engg.": 1.0,
    "Comp. Engg.": 0.9,
    "Comp. Sc.": 0.8,
    "Information Tech.": 0.5,
    "Computer": 0.4,
    "Engineering": 0.3,
}
EXPANDED = {
    "Computer Science and Engineering": 1.0,
    "Computer Engineering": 0.9,
    "Computer Science": 0.8,
    "Information Technology": 0.5,
    "Computer": 0.4,
    "Engineering": 0.3,
}
# Table 2: the classes of the train-1 pages that each class links to.
TABLE_2 = {
    "CSE": {"IT": 8, "ENGG": 1, "COMP": 1},
    "IT": {"CSE": 2, "IT": 4, "ENGG": 4},
    "ENGG": {"CSE": 3, "IT": 4, "ENGG": 3},
    "COMP": {"COMP": 10},
}
LEASE = Lease(1, "http://a.test/", 1, "a.test", 0.0)


def knowledge(table=TABLE_1, look_ahead=None) -> Knowledge:
    vocabulary = Vocabulary(list(table))
    importance = {vocabulary.key(term): weight for term, weight in table.items()}
    return Knowledge(subject=Subject(importance=importance), look_ahead=look_ahead)


def read(strategy: Mcore, html: str, terms) -> Page:
    reads = strategy.reads
    setup = ReaderSetup(
        tuple(terms),
        "en",
        context=reads.context,
        blocks=reads.blocks,
        vector=reads.vector,
        overlapping=not reads.longest,
        context_length=reads.context_length,
        dictionaries={"hi": HINDI} if reads.transcribe else {},
    )
    return make_reader(setup).read(
        Response("http://a.test/", 200, (), html.encode(), 0)
    )


def ranked(html: str, table=TABLE_1, rules=None, **options) -> list[Ranked]:
    strategy = Mcore(McoreOptions(**options), knowledge(table, rules))
    found = read(strategy, html, table)
    return list(strategy.rank(found, Verdict(0.0, False), LEASE))


def obrs_of(html: str, table=TABLE_1, **options) -> list[float]:
    """OBRS of each link; it does not depend on the mode, but `paper` tells it whole."""
    return [each.parts["OBRS"] for each in ranked(html, table, mode="paper", **options)]


def link(text: str) -> str:
    return f"<p><a href=/x>{text}</a></p>"


HINDI = {"संगणक": ("computer",), "विज्ञान": ("science",)}


# OBRS, papers.md A.6-4


@pytest.mark.parametrize(
    ("context", "table", "matching", "obrs"),
    [
        (
            "Comp. Engg. Information Tech. Information Tech. Computer",
            TABLE_1,
            "longest",
            0.9 + 2 * 0.5 + 0.4,
        ),
        ("Comp. Sc. And Engg.", TABLE_1, "longest", 1.0),
        ("Comp. Sc. And Engg.", TABLE_1, "literal", 1.8),
        ("Computer Science and Engineering", EXPANDED, "literal", 2.5),
        ("Computer Science and Engineering", EXPANDED, "longest", 1.0),
    ],
)
def test_obrs_sums_the_importance_of_the_terms_in_the_context(
    context, table, matching, obrs
):
    """papers.md A.6-4: 2.3, 1.0, 1.8 and 2.5. Kumar & Vig, III.F: "Calculate how many
    times the term (T) occurs in the Context Link"."""
    assert obrs_of(link(context), table, matching=matching) == pytest.approx([obrs])
    html = f"<p>{context} <a href=/x>more</a>"
    assert obrs_of(html, table, matching=matching) == pytest.approx([obrs])


def test_the_headings_above_a_link_are_of_its_context():
    """Kumar & Vig, III.D: "the heading or sub heading under which the hyperlink
    appears"."""
    far = "far away words " * 30
    html = (
        f"<h1>Engineering</h1>{far}<h2>Computer</h2>{far}<a href=/a>one</a>{far}"
        f"<h2>Others</h2>{far}<a href=/b>two</a>{far}"
    )
    assert obrs_of(html) == pytest.approx([0.4 + 0.3, 0.3])
    assert obrs_of(html, context=False) == [0.0, 0.0]


def test_without_context_the_anchor_alone_counts():
    html = "<p>Computer Computer <a href=/x>Engineering</a> Computer</p>"
    assert obrs_of(html) == pytest.approx([3 * 0.4 + 0.3])
    assert obrs_of(html, context=False) == pytest.approx([0.3])


def test_without_an_ontology_the_weight_table_counts_its_greatest_as_one():
    strategy = Mcore(
        McoreOptions(mode="paper"),
        Knowledge(subject=Subject(weights={"bee": 4.0, "honey": 1.0})),
    )
    (found,) = strategy.rank(
        read(strategy, link("Bees and honey"), ["bee", "honey"]),
        Verdict(0.0, False),
        LEASE,
    )
    assert found.parts["OBRS"] == pytest.approx(1.25)


def test_words_of_another_language_count_by_what_they_mean():
    """papers.md A.6-7: "संगणक विज्ञान" is computer science."""
    hindi = link("संगणक विज्ञान")
    assert obrs_of(hindi, EXPANDED) == pytest.approx([0.8])
    assert obrs_of(hindi, EXPANDED, transcription=False) == [0.0]


# The thresholds


def ahead(source: str, target: str):
    rules = ClassRules(TABLE_2)

    def look_ahead(_: Page, hops: int, literal: bool) -> float:
        return max(rules.look_ahead(source, target, n) for n in range(1, hops + 1))

    return look_ahead


@pytest.mark.parametrize(
    ("source", "target", "lars", "passes"),
    [
        ("CSE", "IT", 8, True),
        ("IT", "IT", 4, True),
        ("ENGG", "IT", 4, True),
        ("IT", "CSE", 2, False),
        ("ENGG", "CSE", 3, False),  # the test is strict
        ("COMP", "CSE", 0, False),
    ],
)
def test_links_pass_by_what_their_page_is(source, target, lars, passes):
    """papers.md A.6-5: with LARS = 10·P and Min_LaRel = 3. Kumar & Vig, III: "Retrieve
    the link with highest OBRS"."""
    (found,) = ranked(link("x"), rules=ahead(source, target), mode="paper")
    assert found.parts["LARS"] == pytest.approx(lars)
    assert found.reason == ("" if passes else "low_score")


def test_rules_are_applied_several_times_up_to_the_hops():
    """papers.md A.6-2: CSE→CSE is 0 by one rule and 0.19 by two."""
    usual, one, two = (
        ranked(link("x"), rules=ahead("CSE", "CSE"), mode="paper", **options)[0]
        for options in ({}, {"hops": 1}, {"hops": 2})
    )
    assert usual.parts["LARS"] == one.parts["LARS"] == 0
    assert two.parts["LARS"] == pytest.approx(10 * 0.19)


def test_in_the_paper_links_queue_by_obrs_then_by_lars():
    """papers.md A.2, steps 6 to 8, and A.7-5, 6."""
    six, five = (" ".join(["Comp. Sc. And Engg."] * count) for count in (6, 5))
    far = "<hr>" + "far away words " * 30
    html = f"{link(six)}{far}{link(five).replace('/x', '/y')}"
    first, second = ranked(html, mode="paper")
    assert (first.promise, first.reason) == (pytest.approx(6.0), "")
    assert (second.promise, second.reason) == (pytest.approx(5.0), "low_score")
    (likely,) = ranked(link("x"), rules=ahead("CSE", "IT"), mode="paper")
    (likelier,) = ranked(link("Computer"), rules=ahead("IT", "IT"), mode="paper")
    (least,) = ranked(link("x"), rules=ahead("IT", "IT"), mode="paper")
    assert likelier.promise > likely.promise > least.promise > 0
    assert {each.reason for each in (likely, likelier, least)} == {""}


def test_in_the_paper_lars_decides_between_links_of_equal_obrs_only():
    """promise = OBRS + 10⁻⁷·LARS, on its scale of ten; without classes LARS is 0."""
    (found,) = ranked(link("Computer"), rules=ahead("CSE", "IT"), mode="paper")
    assert found.promise - found.parts["OBRS"] == pytest.approx(8e-7)
    (alone,) = ranked(link("Computer"), mode="paper")
    assert (alone.promise, alone.parts["LARS"]) == (alone.parts["OBRS"], 0.0)


def test_fixed_orders_by_obrs_where_there_are_no_classes():
    """papers.md A.7-4, 6."""
    texts = ["Comp. Sc. And Engg.", "Comp. Engg.", "Computer", "Engineering", "x"]
    found = [ranked(link(text))[0] for text in texts]
    promises = [each.promise for each in found]
    assert promises[0] == pytest.approx(1 - exp(-0.5))
    assert promises == sorted(promises, reverse=True)
    assert promises[-1] == 0
    assert not any(each.reason for each in found)


def test_fixed_takes_obrs_and_lars_for_two_signs_of_which_one_may_be_right():
    """1 − exp(−OBRS/2)·(1 − LARS); by Table 3, CSE → IT is 0.8 and ENGG → IT 0.4."""
    (likely,) = ranked(link("Comp. Engg."), rules=ahead("CSE", "IT"))
    (less,) = ranked(link("Comp. Sc. And Engg."), rules=ahead("ENGG", "IT"))
    assert likely.promise == pytest.approx(1 - exp(-0.45) * 0.2)
    assert less.promise == pytest.approx(1 - exp(-0.5) * 0.6)
    assert likely.promise > less.promise, "though its own words say less"
    assert likely.parts == pytest.approx(
        {"OBRS": 1 - exp(-0.45), "LARS": exp(-0.45) * 0.8}
    )
    assert likely.promise == pytest.approx(sum(likely.parts.values()))


def test_rules_that_say_the_same_of_all_pages_do_not_change_the_order():
    """However much the words say, no rounding by LARS: the saturated ones keep their
    order, too."""
    texts = [" ".join(["Comp. Engg."] * count) for count in (1, 2, 9, 12)]
    rules = ahead("ENGG", "IT")
    promises = [ranked(link(text), rules=rules)[0].promise for text in texts]
    assert promises == sorted(promises)
    assert len(set(promises)) == len(promises)


def test_the_look_ahead_can_be_switched_off():
    (off,) = ranked(link("x"), rules=ahead("CSE", "IT"), look_ahead=False)
    assert off.promise == 0
    (on,) = ranked(link("x"), rules=ahead("CSE", "IT"))
    assert on.promise == pytest.approx(0.8)


def test_words_that_the_table_has_not_are_worth_nothing():
    strategy = Mcore(McoreOptions(), knowledge())
    assert strategy.sum({"weather": 5}) == 0.0


def test_only_the_paper_goes_by_rules_to_the_letter():
    asked = []

    def look_ahead(_: Page, hops: int, literal: bool) -> float:
        asked.append(literal)
        return 0.0

    for mode in ("paper", "fixed"):
        ranked(link("x"), rules=look_ahead, mode=mode)
    assert asked == [True, False]


def test_thresholds_can_be_set_from_the_command_line():
    given = {"mode": "paper", "min_ontrel": "0.2", "min_larel": "9"}
    options = build_section(given, McoreOptions, "options", strict=False)
    strategy = Mcore(options, knowledge(look_ahead=ahead("CSE", "IT")))
    far = "<hr>" + "far away words " * 30
    found = strategy.rank(
        read(strategy, link("Engineering") + far + "<a href=/y>x</a>", TABLE_1),
        Verdict(1.0, True),
        LEASE,
    )
    assert [each.reason for each in found] == ["", "low_score"]
    with pytest.raises(BadInput, match="min_ontrel"):
        build_section({"min_ontrel": "-1"}, McoreOptions, "options", strict=False)


def test_the_length_of_the_context_is_an_option():
    """papers.md A.7-9: a fixed number of letters on each side, 200 unless told."""
    html = f"Computer {'w ' * 20}{link('x')}"
    (near,) = ranked(html, context_length=20)
    (far,) = ranked(html, context_length=60)
    (usual,) = ranked(html)
    assert near.promise == 0
    assert far.promise == usual.promise == pytest.approx(1 - exp(-0.2))
    with pytest.raises(BadInput, match="context_length"):
        build_section({"context_length": "0"}, McoreOptions, "options", strict=False)


def test_readers_do_only_what_is_asked_for():
    def reads(rules=None, **options):
        return Mcore(McoreOptions(**options), knowledge(look_ahead=rules)).reads

    assert reads().blocks and reads().longest and reads().transcribe
    assert not reads().vector and reads().look_ahead
    assert reads(ahead("IT", "IT")).vector
    off = reads(
        ahead("IT", "IT"),
        context=False,
        transcription=False,
        look_ahead=False,
        matching="literal",
    )
    assert not (off.blocks or off.vector or off.longest or off.transcribe)
    assert not off.look_ahead


# papers.md A.6-7 (figure 1): intermediate multilinguality

ODD = "The weather is fine and the train is late. "
COURSES = "Computer science courses: computer, science, computer science theory. "
BETWEEN = {f"/odd{number}": f"page number {number}" for number in range(12)}
FIGURE_1 = SmallWeb(
    {
        "http://seed.test/": page("Welcome", ODD * 5, {"/p": "onward"}),
        "http://seed.test/p": page("News", ODD * 20, BETWEEN)
        + f"<p>{ODD * 9} <a href=/courses>संगणक विज्ञान</a>",
        "http://seed.test/courses": page("Courses", COURSES * 10),
        **{
            f"http://seed.test{path}": page(text, f"{ODD * 9} {text * 60}")
            for path, text in BETWEEN.items()
        },
    }
)
FIGURE_1_TOPIC = """
name = "courses"
keywords = ["computer", "science", "computer science"]
seeds = ["http://seed.test/"]
[dictionary]
hi = "hi.tsv"
"""


@pytest.mark.parametrize("transcription", [True, False])
async def test_a_link_in_hindi_is_followed_if_it_can_be_read(crawled, transcription):
    life = await crawled(FIGURE_1, topic_text=FIGURE_1_TOPIC)
    (life.home / "hi.tsv").write_text("संगणक\tcomputer\nविज्ञान\tscience\n")
    ended = await life.crawl(
        *("--strategy", "mcore", "--max-pages", 6),
        *("--option", f"transcription={str(transcription).lower()}"),
    )
    assert ended.code == 0, ended.err
    state = life.states()["http://seed.test/courses"][0]
    assert state == ("kept" if transcription else "waiting")
    row = "SELECT parts FROM link WHERE url = 'http://seed.test/courses'"
    assert ('"OBRS":0.0' in life.rows(row)[0][0]) is not transcription


MIXED = msgspec.structs.replace(
    CALM, pages=1200, hosts=40, topics=12, links=4.0, hindi=0.2
)


def test_transcription_raises_recall_where_a_fifth_of_the_pages_is_mixed(tmp_path):
    """papers.md A.3: 0.2·X of X pages, the important terms in Hindi. Six topics, since
    to one of them chance does more."""
    web = SyntheticWeb(MIXED)
    words = {hi: en for terms in lexicon.TOPICS.values() for en, hi in terms.items()}
    rows = (f"{hindi}\t{english}\n" for hindi, english in words.items())
    (tmp_path / "hi.tsv").write_text("".join(rows))
    with_it = without = 0
    for name in web.topics[:6]:
        path = tmp_path / f"{name}.toml"
        path.write_text(web.topic_file(name) + '\n[dictionary]\nhi = "hi.tsv"\n')
        subject = compile_topic(load_topic(path))
        with_it += found_of(web, name, subject, McoreOptions())
        without += found_of(web, name, subject, McoreOptions(transcription=False))
    assert with_it > 1.1 * without


def found_of(
    web: SyntheticWeb, name: str, subject: Subject, options: McoreOptions
) -> int:
    """The pages of a topic among the first fifty that the strategy chooses."""
    strategy = Mcore(options, Knowledge(subject=subject))
    reads = strategy.reads
    reader = make_reader(setup_for(subject, reads))
    waiting = dict.fromkeys(web.seeds(name, 2), 9.0)  # URL -> promise, oldest first
    visited: dict[str, bool] = {}
    while len(visited) < 50:
        url = max(waiting, key=waiting.__getitem__)
        del waiting[url]
        answer = web.respond(url)
        visited[url] = name in web.labels(url)
        found = reader.read(Response(url, 200, answer.headers, answer.body, 0.0))
        for each in strategy.rank(found, Verdict(0.0, False), LEASE):
            if each.link.url not in visited:
                known = waiting.get(each.link.url, 0.0)
                waiting[each.link.url] = max(known, each.promise)
    return sum(visited.values())


def with_classes(leads_there: bool = True) -> Mcore:
    """MCORE that knows a link of an example page by which the rules were right, and one
    by which they were wrong."""
    given = knowledge(look_ahead=ahead("CSE", "IT"))
    html = link("Computer") + link("x").replace("/x", "/y")
    example = read(Mcore(McoreOptions(), given), html, TABLE_1)
    links = [
        ExampleLink(example, 0, leads_there),
        ExampleLink(example, 1, not leads_there),
    ]
    return Mcore(McoreOptions(), msgspec.structs.replace(given, class_links=links))


def test_it_learns_from_the_links_that_the_rules_were_learnt_from():
    (right, wrong) = (with_classes(there) for there in (True, False))
    obrs, lars, _ = right.blend.rows[0]
    assert (obrs, lars) == (pytest.approx(0.4), pytest.approx(0.8))
    assert right.blend.weights is not None
    assert [row[2] for row in right.blend.rows] == [True, False]
    assert [row[2] for row in wrong.blend.rows] == [False, True]


def test_what_it_learns_is_dumped_and_restored():
    first = with_classes()
    found = read(first, link("Computer"), TABLE_1)
    list(first.rank(found, Verdict(1.0, True), LEASE))
    second = Mcore(McoreOptions(), knowledge(look_ahead=ahead("CSE", "IT")))
    dumped = first.dump()
    second.load(dumped)
    second.recall((key, note) for key, note in first.changes() if note)
    assert second.blend.weights.tolist() == first.blend.weights.tolist()
    assert second.blend.experience.waiting == first.blend.experience.waiting == 1
    assert first.dump() is None
    target = found.links[0].fingerprint
    second.missed(msgspec.structs.replace(LEASE, fingerprint=target), State.UNUSABLE)
    assert second.blend.experience.waiting == 0
    assert list(second.revise()) == []


def test_without_classes_nothing_is_learnt():
    strategy = Mcore(McoreOptions(), knowledge())
    list(strategy.rank(read(strategy, link("x"), TABLE_1), Verdict(1.0, True), LEASE))
    strategy.missed(LEASE, State.UNUSABLE)
    strategy.load(b"{}")
    strategy.recall([(1, b"")])
    assert strategy.dump() is None
    assert [*strategy.changes(), *strategy.revise()] == []
