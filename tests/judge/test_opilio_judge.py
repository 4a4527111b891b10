"""The default judge: its equation, what it learns, and what survives a restart."""

from __future__ import annotations

import random
from math import exp, isfinite, log, sqrt
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.learning_pages import KEYWORDS, crawl, make, page_of, subject
from opilio.errors import BadInput
from opilio.judge.keyword_evidence import page_vectors
from opilio.judge.opilio import Opilio
from opilio.judge.snapshots import CHUNK, PAGES
from opilio.protocols import LabelComparing, Learner, LearningJudge, Teachable
from opilio.records import Page, Subject
from opilio.subject.compile import compile_topic
from opilio.text.urls import fingerprint
from opilio.topic import Examples, OntologyFiles, Topic

DIMENSIONS = 8
UNITS = {key: np.eye(DIMENSIONS)[place] for place, key in enumerate(KEYWORDS)}
Kept = dict[str, bytes]


@pytest.fixture
def small_sample(monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of pages that the judge learns from, which is fewer than usual."""
    monkeypatch.setattr("opilio.judge.opilio.SAMPLE", 100)
    return 100


def at(page: Page, url: str) -> Page:
    return msgspec.structs.replace(page, url=url)


def with_vectors(page: Page, number: int, about: float) -> Page:
    """The page with vectors that are about the keywords to that degree."""
    rng = np.random.default_rng(number)
    rows = 0.3 * rng.normal(size=(3, DIMENSIONS))
    rows[:, :2] += about
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    return msgspec.structs.replace(
        page, vectors=np.rint(rows * 127).astype(np.int8).tobytes()
    )


def sought(vectors: bool, **changes: object) -> Subject:
    known = {key: row.astype("<f4").tobytes() for key, row in UNITS.items()}
    return subject(vectors=known if vectors else {}, **changes)


def pages_of(count: int, vectors: bool) -> list[Page]:
    """Pages of several sites, as a crawl meets them."""
    pages = [
        at(page, f"http://site{number % 5}.test/{number}")
        for number, page in enumerate(crawl(count))
    ]
    if not vectors:
        return pages
    return [
        with_vectors(page, number, 1.0 if page.title.startswith("sky") else 0.0)
        for number, page in enumerate(pages)
    ]


def seen(judge: Opilio, pages: list[Page]) -> list[float]:
    return [judge.judge(page).score for page in pages]


def test_it_has_the_verbs_of_a_judge_that_learns_and_can_be_taught():
    judge = Opilio(subject())
    assert isinstance(judge, LearningJudge)
    assert isinstance(judge, Teachable)
    assert all(isinstance(part, Learner) for part in judge.learners().values())
    assert len(judge.learners()) == 1 + PAGES // CHUNK


def test_the_first_score_is_the_equation_of_the_docstring():
    judge = Opilio(subject())
    page = page_of(["star", "star", *"abcdefgh"])
    # Both keywords are rare and weigh 1; one of them is there twice.
    cosine = (1 + log(2)) / (sqrt(2) * page.norm)
    bm25 = 2.2 * 2 / (2 + 1.2 * (0.25 + 0.75 * 10 / 600)) / 2
    relative = 0.0 / (0.02 * bm25)  # it is the only page: both quantiles are its own
    z = [(cosine - 0.06) / 0.06, (relative - 0.5) / 0.6]
    opening = judge.opening
    weights = [opening.of("cosine"), opening.of("bm25")]
    logit = opening.bias + sum(
        weight * max(-4, min(4, value))
        for weight, value in zip(weights, z, strict=True)
    )
    evidence = judge.keywords.of(page, page_vectors(page))
    assert evidence[:2] == pytest.approx((cosine, bm25))
    assert judge.judge(page).score == pytest.approx(1 / (1 + exp(-logit)), abs=1e-6)


@pytest.mark.parametrize("vectors", [True, False])
def test_parts_add_up_to_the_score(vectors: bool):
    judge = Opilio(sought(vectors))
    for page in pages_of(60, vectors):
        verdict = judge.judge(page)
        assert sum(verdict.parts.values()) == pytest.approx(verdict.score)
        assert 0 < verdict.score < 1
        assert verdict.relevant == (verdict.score >= 0.5)
    assert "words of other pages like it" in verdict.parts
    assert ("meaning of its first words" in verdict.parts) == vectors


@pytest.mark.parametrize("vectors", [True, False])
def test_pages_about_the_subject_score_higher_than_others(vectors: bool):
    judge = Opilio(sought(vectors))
    pages = pages_of(300, vectors)
    scores = seen(judge, pages)
    sky = [s for s, p in zip(scores, pages, strict=True) if p.title.startswith("sky")]
    rest = [
        s for s, p in zip(scores, pages, strict=True) if not p.title.startswith("sky")
    ]
    assert np.mean(np.array(sky)[:, None] > np.array(rest)) > 0.95


def test_it_finds_pages_of_the_topic_that_name_no_keyword():
    judge = Opilio(subject())
    silent, other = make("sky", 9000, silent=True), make("sea", 9000)
    assert judge.look(silent).score == pytest.approx(judge.look(other).score)
    seen(judge, pages_of(300, vectors=False))
    assert judge.look(silent).score > 1.5 * judge.look(other).score


def test_to_look_at_a_page_teaches_nothing():
    judge = Opilio(subject())
    seen(judge, crawl(50))
    before = judge.snapshot()
    judge.look(make("sky", 9000))
    assert judge.snapshot() == before
    judge.is_learning = False
    judge.judge(make("sky", 9000))
    assert judge.snapshot() == before


@pytest.mark.parametrize("label", [True, False])
def test_a_label_moves_the_page_and_those_like_it(label: bool):
    judge = Opilio(subject())
    seen(judge, pages_of(60, vectors=False))
    page, like, other = make("film", 9001), make("film", 9002), make("law", 9003)
    before = [judge.look(each).score for each in (page, like, other)]
    judge.teach(page, label)
    after = [judge.look(each).score for each in (page, like, other)]
    moved = [new - old for new, old in zip(after, before, strict=True)]
    if not label:
        moved = [-each for each in moved]
    assert moved[0] > 0.02
    assert moved[1] > 0.003
    assert moved[1] > abs(moved[2])


def test_a_second_label_of_a_page_replaces_the_first():
    judge, once = Opilio(subject()), Opilio(subject())
    for each in (judge, once):
        seen(each, pages_of(60, vectors=False))
    page = at(make("film", 9001), "http://a.test/film")
    judge.teach(page, True)
    judge.teach(page, False)
    once.teach(page, False)
    assert len(judge.taught) == 1
    assert judge.look(page) == once.look(page)


def test_a_judge_knows_what_it_would_think_without_labels():
    judge, other = Opilio(subject()), Opilio(subject())
    pages = [
        at(page, f"http://s{n % 5}.test/{n}")
        for n, page in enumerate(pages_of(60, vectors=False))
    ]
    for each in (judge, other):
        seen(each, pages)
    other.fit()  # as the judge does after each label
    for page in pages[10:20]:
        judge.teach(page, True)
    assert isinstance(judge, LabelComparing)
    new, before = make("film", 9001), judge.snapshot()
    without = judge.without_labels()
    assert judge.snapshot() == before
    assert without.look(new).score == pytest.approx(other.look(new).score, abs=1e-4)
    assert judge.look(new).score != pytest.approx(other.look(new).score, abs=1e-3)


def test_labels_without_end_take_bounded_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("opilio.judge.opilio.MOST_TAUGHT", 60)
    judge = Opilio(subject())
    for number in range(80):
        page = at(page_of(["star", f"w{number}"]), f"http://a.test/{number}")
        judge.teach(page, True)
    assert len(judge.taught) == 60
    assert judge.taught[-1].url == fingerprint(f"http://a.test/{number}")


def test_examples_teach_from_the_first_page_on():
    good = [make("sky", number, silent=True) for number in range(1000, 1005)]
    bad = [make("sea", number) for number in range(1000, 1005)]
    judge = Opilio(subject(relevant=good, irrelevant=bad))
    silent, other = make("sky", 9000, silent=True), make("sea", 9000)
    assert judge.look(silent).score > judge.look(other).score + 0.05


def test_the_topic_may_set_the_threshold():
    page = make("sky", 1)
    assert Opilio(subject(threshold=0.01)).judge(page).relevant
    assert not Opilio(subject(threshold=0.99)).judge(page).relevant


def test_more_keywords_on_the_subject_do_not_lower_the_score():
    """Forty keywords of which a page has its share score as six do."""
    many = [f"sky{number}" for number in range(40)]

    def page(rng: random.Random, own: list[str]) -> Page:
        text = [*rng.choices(own, k=60), *(f"c{rng.randrange(60)}" for _ in range(90))]
        found = page_of(text)
        terms = {word: text.count(word) for word in many if word in text}
        counts = [text.count(word) for word in dict.fromkeys(text)]
        norm = sqrt(sum((1 + log(count)) ** 2 for count in counts))
        return msgspec.structs.replace(found, terms=terms, norm=norm if terms else 0.0)

    def mean_score(keywords: list[str]) -> float:
        rng = random.Random(5)
        judge = Opilio(Subject(weights=dict.fromkeys(keywords, 1.0)))
        scores = []
        for number in range(100):
            is_sky = number % 3 == 0
            own = many if is_sky else [f"other{each}" for each in range(40)]
            each = page(rng, own)
            kept = {key: n for key, n in each.terms.items() if key in keywords}
            norm = each.norm if kept else 0.0
            each = msgspec.structs.replace(each, terms=kept, norm=norm)
            score = judge.judge(each).score
            if is_sky and number > 20:
                scores.append(score)
        return float(np.mean(scores))

    few, all_of_them = mean_score(many[:6]), mean_score(many)
    assert all_of_them > few - 0.02
    assert all_of_them > 0.5


def commit(judge: Opilio, kept: Kept) -> int:
    """Keep what is new, as a crawl does; how many bytes that were."""
    found = {name: part.dump() for name, part in judge.learners().items()}
    new = {name: dumped for name, dumped in found.items() if dumped is not None}
    kept.update(new)
    return sum(map(len, new.values()))


def restarted(made: Subject, kept: Kept) -> Opilio:
    judge = Opilio(made)
    for part, learner in judge.learners().items():
        if part in kept:
            learner.load(kept[part])
    return judge


@pytest.mark.parametrize("vectors", [True, False])
@settings(max_examples=4, deadline=None)
@given(
    stops=st.lists(st.integers(1, 90), min_size=1, max_size=2), lost=st.integers(0, 9)
)
def test_a_judge_that_was_killed_goes_on_as_one_that_was_not(
    vectors: bool, stops: list[int], lost: int
):
    made = sought(vectors, relevant=[make("sky", 7000)])
    pages = pages_of(sum(stops) + 60, vectors)
    whole, broken = Opilio(made), Opilio(made)
    scores = []
    for number, page in enumerate(pages):
        scores.append(whole.judge(page).score)
        if number % 40 == 39:
            whole.teach(page, True)
    kept: Kept = {}
    place = 0
    for stop in stops:
        for number in range(place, place + stop):
            broken.judge(pages[number])
            if number % 40 == 39:
                broken.teach(pages[number], True)
        place += stop
        commit(broken, kept)
        for page in pages[place : place + lost]:  # these are not committed
            broken.judge(page)
        broken = restarted(made, kept)
    again = []
    for number in range(place, len(pages)):
        again.append(broken.judge(pages[number]).score)
        if number % 40 == 39:
            broken.teach(pages[number], True)
    assert again == scores[place:]


def test_a_restart_with_a_full_sample_changes_nothing(small_sample: int):
    pages = pages_of(small_sample + 150, vectors=False)
    whole, broken, kept = Opilio(subject()), Opilio(subject()), {}
    scores = seen(whole, pages)
    seen(broken, pages[: small_sample + 40])
    commit(broken, kept)
    broken = restarted(subject(), kept)
    rest = slice(small_sample + 40, None)
    assert seen(broken, pages[rest]) == scores[rest]
    assert len(broken.sample) == small_sample


def test_a_judge_with_other_keywords_goes_on_with_what_was_learnt():
    before = Opilio(subject())
    seen(before, crawl(300))
    judge = Opilio(Subject(weights={"star": 1.0, "planet": 1.0, "comet": 1.0}))
    judge.follow(before)
    silent, other = make("sky", 9001, silent=True), make("sea", 9001)
    assert judge.look(silent).score > judge.look(other).score + 0.1
    kept: Kept = {}
    assert commit(judge, kept)
    again = restarted(Subject(weights={"star": 1.0, "planet": 1.0, "comet": 1.0}), kept)
    assert again.look(silent) == judge.look(silent)


def test_what_another_version_kept_is_ignored():
    judge = Opilio(subject())
    judge.load(b"\x93\x01\x02\x03")
    judge.load(b"")
    assert judge.pages == 0


HOSTILE = {
    "no words": lambda: page_of([]),
    "a keyword a hundred thousand times": lambda: page_of(["star"] * 60_000),
    "fifty thousand words": lambda: page_of([f"w{number}" for number in range(50_000)]),
    "vectors of nothing": lambda: msgspec.structs.replace(
        page_of(["star"]), vectors=bytes(3 * DIMENSIONS)
    ),
    "vectors of other dimensions": lambda: msgspec.structs.replace(
        page_of(["star"]), vectors=bytes([99] * 3 * 5)
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("vectors", [True, False])
def test_hostile_pages_do_no_harm(name: str, vectors: bool):
    judge, hostile = Opilio(sought(vectors)), HOSTILE[name]()
    for page in [hostile] * 12 + pages_of(15, vectors) + [hostile]:
        assert isfinite(judge.judge(page).score)


def test_keywords_of_which_no_vector_is_known_are_judged_without():
    zeros = {key: bytes(4 * DIMENSIONS) for key in KEYWORDS}
    known, without = Opilio(subject(vectors=zeros)), Opilio(subject())
    pages = pages_of(7, vectors=False)
    assert seen(known, pages) == seen(without, pages)


def test_a_topic_without_anything_is_refused_with_a_remedy():
    with pytest.raises(BadInput, match=r"'opilio' needs keywords.*add keywords ="):
        Opilio(Subject())


ONTOLOGY = """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <http://x.test/#> .
:Volcano a owl:Class ; rdfs:label "volcano"@en .
:Lava a owl:Class ; rdfs:label "lava"@en ; rdfs:subClassOf :Volcano .
"""
EXAMPLE = "<html lang=en><p>" + "The volcano throws lava, and the lava burns. " * 9


@pytest.mark.parametrize("kind", ["ontology", "examples"])
def test_an_ontology_or_an_example_is_enough(kind: str, tmp_path: Path):
    (tmp_path / "volcano.ttl").write_text(ONTOLOGY)
    (tmp_path / "example.html").write_text(EXAMPLE)
    files = OntologyFiles(files=[str(tmp_path / "volcano.ttl")], concepts=["volcano"])
    examples = Examples(relevant=[str(tmp_path / "example.html")])
    topic = {
        "ontology": Topic(name="t", ontology=files),
        "examples": Topic(name="t", examples=examples),
    }[kind]
    judge = Opilio(compile_topic(topic))
    hot = msgspec.structs.replace(
        page_of(["lava"] * 5 + ["x"] * 5), terms={"lava": 5}, norm=3.7
    )
    assert judge.judge(hot).score > judge.look(page_of(["y"] * 10)).score + 0.1


def as_seed(page: Page) -> Page:
    return msgspec.structs.replace(page, is_seed=True)


def test_a_seed_counts_more_than_the_same_page_found_otherwise():
    judge, other = Opilio(subject()), Opilio(subject())
    seed = make("sky", 7)
    chosen, found = judge.judge(as_seed(seed)), other.judge(seed)
    assert chosen.score > found.score + 0.05
    assert chosen.parts["chosen as a seed"] > 0
    assert sum(chosen.parts.values()) == pytest.approx(chosen.score)


def test_a_seed_that_is_not_about_the_keywords_hardly_counts():
    judge, other = Opilio(subject()), Opilio(subject())
    judge.judge(as_seed(make("sky", 7)))
    other.judge(as_seed(make("sky", 7)))
    seed = make("sea", 8)
    assert judge.judge(as_seed(seed)).score - other.judge(seed).score < 0.03


def test_pages_like_the_seeds_are_more_relevant_than_without_them():
    judge, other = Opilio(subject()), Opilio(subject())
    for number in range(40):
        kind = ("sky", "sea")[number % 2]
        page = at(make(kind, number), f"http://site{number}.test/")
        judge.judge(as_seed(page) if number in (0, 2, 4) else page)
        other.judge(page)
    silent = make("sky", 9001, silent=True)
    assert judge.look(silent).score > other.look(silent).score + 0.01


def test_seeds_teach_also_when_many_pages_were_seen_and_after_a_restart(
    small_sample: int,
):
    judge, kept = Opilio(subject()), {}
    judge.judge(as_seed(make("sky", 7)))
    seen(judge, pages_of(small_sample + 100, vectors=False))
    assert [noted.is_seed for noted in judge.sample].count(True) == 1
    commit(judge, kept)
    again = restarted(subject(), kept)
    assert len(again.seeds) == 1
    assert seen(again, crawl(30)) == seen(judge, crawl(30))


def test_pages_like_the_seeds_by_their_vectors_are_more_relevant():
    judge = Opilio(sought(vectors=True))
    seed, other = np.eye(DIMENSIONS)[2], np.eye(DIMENSIONS)[5]
    for number in range(30):
        page = with_rows(make("sky", number), (seed, other)[number % 2])
        judge.judge(as_seed(page) if number == 0 else page)
    silent = make("sea", 9001)
    like = judge.look(with_rows(silent, seed)).parts["like the seeds"]
    unlike = judge.look(with_rows(silent, other)).parts["like the seeds"]
    assert like > 0 > unlike
    kept: Kept = {}
    commit(judge, kept)
    again = restarted(sought(vectors=True), kept)
    assert again.look(with_rows(silent, seed)) == judge.look(with_rows(silent, seed))


def with_rows(page: Page, row: np.ndarray) -> Page:
    """The page with this vector for its title, opening and text."""
    packed = np.rint(np.tile(row, (3, 1)) * 127).astype(np.int8)
    return msgspec.structs.replace(page, vectors=packed.tobytes())
