"""What strategies need of a topic: stated in `opilio strategies`, and insisted on."""

from pathlib import Path

import pytest

from in_process import run
from opilio.errors import BadInput
from opilio.records import Knowledge, Subject
from opilio.strategies import DEFAULT, OURS, class_of_strategy, load_strategy
from opilio.strategies.shared.inputs import (
    BASELINE,
    GROUPS,
    INPUTS,
    RECOMMENDED,
    TAUGHT,
    WORDS,
    input_of,
    require_input,
)

SOUGHT = Subject(weights={"bee": 1.0}, terms=("bee",))


def make(name: str, subject: Subject = SOUGHT, **options):
    made = load_strategy(class_of_strategy(name))
    return made(made.Options(**options), Knowledge(subject=subject))


def test_every_strategy_says_what_it_needs():
    assert set(INPUTS) == set(OURS)
    assert {one.group for one in INPUTS.values()} == {RECOMMENDED, TAUGHT, BASELINE}
    assert input_of(DEFAULT).group == RECOMMENDED


def test_the_list_is_in_groups_the_default_first():
    told = run("strategies").out
    places = [told.index(group.capitalize()) for group in GROUPS[:3]]
    assert places == sorted(places)
    assert told.split()[:2] == ["Recommended", DEFAULT]
    assert places[1] < told.index("mcore") < places[2] < told.index("random")
    assert "[classes], folders of example pages" in " ".join(told.split())
    rows = {row["name"]: row for row in run("strategies", "--json").json()}
    assert rows["mcore"]["group"] == TAUGHT
    assert rows["blocks"]["needs"] == WORDS
    assert rows["blocks"]["options"]["mu"] == 0.5


@pytest.mark.parametrize("name", sorted(INPUTS))
def test_a_topic_without_terms_is_refused_by_those_that_compare_with_them(name: str):
    nothing = Subject()
    has_words = input_of(name).needs.startswith(WORDS)
    strategy = make(name, nothing if not has_words else SOUGHT)
    if not has_words:
        require_input(name, strategy, nothing, False)
        return
    with pytest.raises(BadInput, match=rf"'{name}' needs keywords.*add .*keywords ="):
        require_input(name, strategy, nothing, False)
    require_input(name, strategy, SOUGHT, False)


def test_the_letter_of_kumar_and_vig_needs_classes_unless_rules_are_left_out():
    with pytest.raises(BadInput, match=r"add \[classes\] folder"):
        require_input("mcore", make("mcore", mode="paper"), SOUGHT, False)
    require_input("mcore", make("mcore", mode="paper"), SOUGHT, True)
    left_out = make("mcore", mode="paper", look_ahead=False)
    require_input("mcore", left_out, SOUGHT, False)
    require_input("mcore", make("mcore"), SOUGHT, False)


def test_the_letter_of_koundal_needs_an_ontology():
    with pytest.raises(BadInput, match=r"add \[ontology\] files"):
        require_input("ordering", make("ordering", mode="paper"), SOUGHT, False)
    require_input("ordering", make("ordering"), SOUGHT, False)
    known = Subject(weights={"bee": 1.0}, concepts={"bee": ("bee", 1.0)})
    require_input("ordering", make("ordering", mode="paper"), known, False)


def test_a_crawl_is_refused_before_anything_is_made(tmp_path: Path):
    topic = tmp_path / "bees.toml"
    topic.write_text('name = "bees"\nkeywords = ["bee"]\nseeds = ["http://a.test/"]\n')
    for options, key in (
        (("--strategy", "mcore", "--option", "mode=paper"), "[classes]"),
        (("--strategy", "ordering", "--option", "mode=paper"), "[ontology]"),
    ):
        ended = run("crawl", topic, "-o", tmp_path / "crawl", *options)
        assert (ended.code, key in ended.err) == (2, True), ended.err
        assert not (tmp_path / "crawl").exists()


def test_a_strategy_of_another_package_is_a_group_of_its_own():
    assert input_of("theirs").group == GROUPS[-1]
