"""Which part of which ontology is relevant, and how important each term is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.topic.ontology import (
    Concept,
    Edge,
    Ontology,
    Relation,
    Repository,
    association,
    importance_table,
    load_repository,
    read_importances,
    read_ontology,
)
from opilio.topic.ontology.repository import score, specificity
from topic.ontologies import (
    ENGINEERING,
    OTHER_DEPARTMENT,
    PC,
    TABLE_1,
    skos,
    turtle,
)

SHARED = Path(__file__).parents[3] / "shared" / "data"


def departments() -> Repository:
    others = (
        turtle(OTHER_DEPARTMENT.format(name=name), f"{name}.ttl")
        for name in ("Civil", "Mechanical")
    )
    return Repository((turtle(ENGINEERING, "cse.ttl"), *others))


def test_the_importance_table_of_the_paper_comes_out():
    """Kumar & Vig, table 1 (papers.md A.4): order and, on this ontology, numbers. The
    target, a kind of it (.9), a part (.8), what it is related to (.5), what the part is
    related to (.8 · .5), and the broader concept all domains share (.5 · .6). Kumar &
    Vig, III.F: "A more relevant term to the query will have the more importance"."""
    sought = departments().extract(["Comp. Sc. And Engg."])
    table = importance_table(sought)
    assert list(table) == list(TABLE_1)
    assert table == pytest.approx(TABLE_1)


def test_the_target_has_1_also_if_all_domains_share_it_and_nothing_has_more():
    """Of Engineering, which loses λ = .4, the kinds would have .9/.6."""
    table = importance_table(departments().extract(["Engineering"]))
    assert table["Engineering"] == table["Comp. Sc. And Engg."] == 1.0
    assert table["Comp. Engg."] == 1.0  # .9 · .9 / .6
    assert table["Information Tech."] == pytest.approx(0.9 * 0.5 / 0.6)


def test_importances_that_the_file_gives_stand_as_they_are():
    """The same table as annotations; nothing else of the ontology decides."""
    given_values = TABLE_1 | {"COBOL": 0.001}
    rows = "".join(
        f"{term}\tis a\tdepartment\n{term}\topilio:importance\t{value}\n"
        for term, value in given_values.items()
    )
    ontology = read_ontology(rows.encode(), "table1.tsv")
    table = importance_table(ontology, ["Comp. Sc. And Engg."])
    assert {term: table[term] for term in given_values} == given_values


def test_importances_may_come_from_a_file_of_their_own(tmp_path):
    path = tmp_path / "importance.tsv"
    path.write_text("# term\timportance\nComp. Sc.\t0.85\nCOBOL\t0.05\n")
    given_values = read_importances(path)
    assert given_values == {"Comp. Sc.": 0.85, "COBOL": 0.05}
    table = importance_table(departments().extract(["Comp. Engg."]), given=given_values)
    assert (table["Comp. Sc."], table["COBOL"]) == (0.85, 0.05)


@pytest.mark.parametrize("line", ["a\t1.5", "a\t0", "a 0.5", "a\tmuch", "a\tnan"])
def test_an_importance_that_is_no_share_is_refused(tmp_path, line: str):
    path = tmp_path / "importance.tsv"
    path.write_text(f"fine\t1\n{line}\n")
    with pytest.raises(BadInput, match=r"importance\.tsv: line 2"):
        read_importances(path)


def test_in_one_ontology_a_term_of_several_branches_is_less_important():
    ontology = skos(
        """:plants skos:prefLabel "Plants" . :planets skos:prefLabel "Planets" .
        :allium skos:prefLabel "Onion" ; skos:broader :plants .
        :bulb skos:prefLabel "Bulb" ; skos:broader :plants .
        :mercury skos:prefLabel "Mercury (herb)" ; skos:broader :plants .
        :mercury2 skos:prefLabel "Mercury (planet)" ; skos:broader :planets ."""
    )
    table = importance_table(ontology, ["plants"])
    assert list(table) == ["Plants", "Bulb", "Onion", "Mercury"]
    assert table["Onion"] == table["Bulb"] == pytest.approx(0.9)
    assert table["Mercury"] == pytest.approx(0.9 * 0.6)


def test_a_name_that_is_no_concept_anywhere_is_shared_by_no_domain():
    other = turtle(OTHER_DEPARTMENT.format(name="Civil"), "civil.ttl")
    table = importance_table(Repository((turtle(PC), other)).extract(["CPU"]))
    assert table["Pentium III"] == pytest.approx(0.9)


def test_the_top_of_an_ontology_is_shared_by_all_its_branches():
    table = importance_table(turtle(PC), ["CPU"], languages=["en"])
    assert table["CPU"] == table["processor"] == 1.0
    assert table["Pentium III"] == pytest.approx(0.9)
    assert table["Intel"] == pytest.approx(0.5)
    assert table["hardware"] == pytest.approx(0.5 * 0.6)
    assert "Prozessor" not in table
    assert "500" not in table


def test_least_and_most_bound_the_table():
    table = importance_table(turtle(PC), ["CPU"], least=0.5)
    assert min(table.values()) == table["Intel"] == 0.5
    assert len(importance_table(turtle(PC), ["CPU"], most=3)) == 3


def test_a_table_holds_2000_terms_unless_told_otherwise():
    rows = "".join(f"kind{n}x\tis a\ttopic\n" for n in range(2001))
    ontology = read_ontology(rows.encode(), "many.tsv")
    assert len(importance_table(ontology, ["topic"])) == 2000


@pytest.mark.parametrize(
    ("wanted", "sure"),
    [
        ("CPU", 1.0),
        ("cpu", 1.0),
        ("CPUs", 0.9),
        ("processors", 0.9),
        ("Prozessoren", 0.9),
        ("Hauptprozessor", 1.0),
        ("cheap central processing units", None),
    ],
)
def test_a_concept_is_found_by_any_form_of_any_label(wanted: str, sure: float | None):
    (match,) = Repository((turtle(PC),)).extract([wanted]).matches
    assert match.label == "CPU"
    if sure is None:
        assert 0.3 < match.sure < 0.8
    else:
        assert match.sure == sure


def test_a_preferred_label_wins_over_an_alternative_one():
    ontology = skos(
        """:a skos:prefLabel "Java" .
           :b skos:prefLabel "Island" ; skos:altLabel "Java" ."""
    )
    sought = Repository((ontology,)).extract(["java"])
    assert sought.labels == ["Java"]


def test_an_unknown_name_is_refused_with_near_ones():
    with pytest.raises(BadInput, match=r"'motherbaord' is not a concept .*motherboard"):
        Repository((turtle(PC),)).extract(["CPU", "motherbaord"])


def test_unknown_keywords_may_be_passed_over_but_not_all():
    repository = Repository((turtle(PC),))
    assert repository.extract(["CPU", "zzz"], lenient=True).labels == ["CPU"]
    with pytest.raises(BadInput, match="nothing similar"):
        repository.extract(["zzz"], lenient=True)
    with pytest.raises(BadInput, match="no concept is given"):
        repository.extract([])


def test_the_ontology_that_knows_the_most_of_what_is_wanted_is_taken():
    """Kumar & Vig, III.F: the relevant ontology is extracted for the query (A6)."""
    animals = skos(
        """:m skos:prefLabel "Mouse" ; skos:broader :r . :r skos:prefLabel "Rodents" .
           :k skos:prefLabel "Keyboard bird" .""",
        "animals.ttl",
    )
    devices = turtle(
        """@prefix : <http://e/devices#> .
        @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        :m skos:prefLabel "Mouse" ; skos:broader :d . :d skos:prefLabel "Devices" .
        :k skos:prefLabel "Keyboard" ; skos:broader :d .""",
        "devices.ttl",
    )
    sought = Repository((animals, devices)).extract(["mouse", "keyboard"])
    assert sought.ontology.name == "devices.ttl"
    assert {match.ontology for match in sought.matches} == {"devices.ttl"}
    assert sought.scores["devices.ttl"] > sought.scores["animals.ttl"] > 0
    both = Repository((animals, devices)).extract(["keyboard", "rodents"])
    assert set(both.labels) == {"Keyboard", "Rodents"}
    assert {c.label for c in both.ontology.concepts} >= {"Mouse", "Devices", "Rodents"}


def test_of_two_ontologies_the_one_that_is_more_specific_scores_higher():
    broad = skos(
        """:a skos:prefLabel "Bees" . :b skos:prefLabel "Honey bee"; skos:broader :a .
           :c skos:prefLabel "Mason bee" ; skos:broader :a .""",
        "broad.ttl",
    )
    fine = skos(
        """:a skos:prefLabel "Insects" . :b skos:prefLabel "Bees" ; skos:broader :a .
           :c skos:prefLabel "Wasps" ; skos:broader :a .""",
        "fine.ttl",
    )
    scores = Repository((broad, fine)).extract(["bees"]).scores
    assert scores["fine.ttl"] == 1.0
    assert scores["broad.ttl"] < 0.8


def test_only_what_is_around_the_targets_is_extracted():
    chain = "".join(
        f':c{n} skos:prefLabel "thing{n}x" ; skos:related :c{n + 1} .'
        for n in range(50)
    )
    ontology = skos(chain + ':c50 skos:prefLabel "thing50x" .')
    part = Repository((ontology,)).extract(["thing0x"]).ontology
    assert {c.label for c in part.concepts} == {f"thing{n}x" for n in range(4)}


def test_the_association_table_falls_by_half_a_step_of_is_a():
    """papers.md B.5-10: weight by relation distance from the target, is-a 1 hop 0.5."""
    table = association(Repository((turtle(PC),)).extract(["CPU"]), languages=["en"])
    assert table["processor"] == table["Athlon"] == ("CPU", 1.0)
    assert table["multi-core processor"] == ("multi-core processor", 0.5)
    assert table["hardware"] == ("hardware", 0.5)
    assert table["mainboard"] == ("motherboard", 0.4)
    assert table["chipset"] == ("chipset", 0.3)
    assert table["RAM"] == ("memory", 0.25)


@st.composite
def any_ontology(draw) -> Ontology:
    """Any graph at all, cycles of is-a and all."""
    size = draw(st.integers(1, 12))
    place = st.integers(0, size - 1)
    relations = st.sampled_from([r for r in Relation if r is not Relation.HAS_KIND])
    edges = draw(st.lists(st.builds(Edge, place, relations, place), max_size=40))
    concepts = tuple(
        Concept(id=f"c{n}", label=f"word{n}x", labels={"": (f"word{n}x",)})
        for n in range(size)
    )
    return Ontology(name="any", concepts=concepts, edges=tuple(edges))


@settings(max_examples=80, deadline=None)
@given(any_ontology())
def test_any_graph_gives_importances_between_0_and_1_and_the_target_is_best(ontology):
    table = importance_table(ontology, ["word0x"])
    assert next(iter(table.values())) == table["word0x"] == 1.0
    assert all(0 < value <= 1 for value in table.values())
    sought = Repository((ontology,)).extract(["word0x"])
    weights = [weight for _, weight in association(sought).values()]
    assert weights[0] == 1.0
    assert weights == sorted(weights, reverse=True)


def test_is_a_in_circles_ends():
    ontology = skos(
        """:a skos:prefLabel "A1" ; skos:broader :b . :b skos:prefLabel "B1" ;
           skos:broader :a , :b ."""
    )
    assert importance_table(ontology, ["A1"]) == pytest.approx({"A1": 1.0, "B1": 0.9})


def test_files_of_one_name_stay_apart(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pc.ttl").write_text(PC)
    files = [tmp_path / "one" / "pc.ttl", str(tmp_path / "two" / "pc.ttl")]
    repository = load_repository(files, cache_folder=tmp_path / "cache")
    assert [o.name for o in repository.ontologies] == ["pc", files[1]]
    with pytest.raises(BadInput, match="no ontology file"):
        load_repository([])


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data")
def test_a_thesaurus_is_found_by_its_labels_in_each_language(tmp_path):
    """Reads ../shared/data/unesco-thesaurus.ttl; the second time from the cache."""
    files = [SHARED / "unesco-thesaurus.ttl"]
    first = load_repository(files, cache_folder=tmp_path)
    again = load_repository(files, cache_folder=tmp_path)
    assert msgspec.msgpack.encode(first.ontologies) == msgspec.msgpack.encode(
        again.ontologies
    )
    assert again.ontologies[0].languages == ("en", "es", "fr", "ru")
    for name in ("Computer science", "Informatique", "Informática", "Информатика"):
        assert "Computer science" in again.extract([name]).labels
    table = importance_table(again.extract(["computer science"]), languages=["en"])
    assert 50 < len(table) <= 2000
    assert table["Computer science"] == 1.0


def test_an_ontology_of_one_concept_is_wholly_specific_and_none_scores_nothing():
    """IC(c) = 1 where nothing can be a kind of it; a term that is not found adds 0."""
    one = skos(':a skos:prefLabel "Bees" .')
    assert specificity(one, 0) == 1.0
    assert score(one, {"bees": [(0, 1.0)]}) == 1.0
    assert score(one, {"bees": [(0, 1.0)], "sea": []}) == 0.5
    assert score(one, {"sea": []}) == 0.0
