"""Class-to-class rules against the tables of Kumar & Vig (paper A)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.topic.rules import ClassRules, Paths, learn_rules, load_rules

# Table 2: class distribution into train-1 set for each class in train-0 set.
TABLE_2 = {
    "CSE": {"IT": 8, "ENGG": 1, "COMP": 1},
    "IT": {"CSE": 2, "IT": 4, "ENGG": 4},
    "ENGG": {"CSE": 3, "IT": 4, "ENGG": 3},
    "COMP": {"COMP": 10},
}
# Table 3: the adaptive rules for that distribution.
TABLE_3 = {
    ("CSE", "IT"): 0.8,
    ("CSE", "COMP"): 0.1,
    ("CSE", "ENGG"): 0.1,
    ("IT", "CSE"): 0.2,
    ("IT", "IT"): 0.4,
    ("IT", "ENGG"): 0.4,
    ("ENGG", "CSE"): 0.3,
    ("ENGG", "IT"): 0.4,
    ("ENGG", "ENGG"): 0.3,
    ("COMP", "COMP"): 1.0,
}
# Two links: the square of table 3 (papers.md, A.6-2).
TWO_HOPS = {
    ("CSE", "CSE"): 0.19,
    ("CSE", "IT"): 0.36,
    ("CSE", "ENGG"): 0.35,
    ("CSE", "COMP"): 0.10,
    ("IT", "CSE"): 0.20,
    ("IT", "IT"): 0.48,
    ("IT", "ENGG"): 0.30,
    ("IT", "COMP"): 0.02,
    ("ENGG", "CSE"): 0.17,
    ("ENGG", "IT"): 0.52,
    ("ENGG", "ENGG"): 0.28,
    ("ENGG", "COMP"): 0.03,
    ("COMP", "COMP"): 1.0,
}

counts = st.dictionaries(
    st.sampled_from("ABCDE"),
    st.dictionaries(st.sampled_from("ABCDE"), st.integers(0, 50), max_size=5),
    max_size=5,
)


def as_links(table):
    return [
        (source, target)
        for source, row in table.items()
        for target, times in row.items()
        for _ in range(times)
    ]


@pytest.fixture
def rules() -> ClassRules:
    return learn_rules(as_links(TABLE_2))


def test_table_2_gives_the_ten_rules_of_table_3_and_no_others(rules):
    """Kumar & Vig, III.G: "we count the number of referred classes in corresponding
    train-1 set"."""
    found = {(rule.source, rule.target): rule.probability for rule in rules.rows()}
    assert found == TABLE_3
    assert found == {
        (source, target): rules.probability(source, target)
        for source, target in TABLE_3
    }
    for source in TABLE_2:
        row = [value for (first, _), value in found.items() if first == source]
        assert sum(row) == pytest.approx(1.0)


def test_p_follows_the_tables_and_not_the_transposed_text(rules):
    # A.7-1: by the text, P(CSE → IT) would be the share of CSE among what IT points to.
    assert rules.probability("CSE", "IT") == 0.8
    assert rules.probability("IT", "CSE") == 0.2


def test_two_hops_are_the_sum_over_all_paths(rules):
    found = {(rule.source, rule.target): rule.probability for rule in rules.ahead(2)}
    assert found == pytest.approx(TWO_HOPS)


def test_the_best_path_is_the_likeliest_of_them(rules):
    best = {(one.source, one.target): one for one in rules.ahead(2, Paths.BEST)}
    assert best["CSE", "CSE"].probability == pytest.approx(0.16)  # by way of IT
    assert best.keys() == TWO_HOPS.keys()
    assert all(best[pair].probability <= TWO_HOPS[pair] + 1e-12 for pair in best)


@pytest.mark.parametrize("paths", Paths)
def test_from_comp_no_path_of_any_length_leads_to_cse(rules, paths):
    for hops in (1, 2, 3, 10, 100):
        assert rules.look_ahead("COMP", "CSE", hops, paths) == 0
        assert rules.look_ahead("COMP", "COMP", hops, paths) == 1


def test_the_paper_threshold_passes_and_fails_as_on_its_scale_of_ten(rules):
    # A.6-5, Min_LaRel = 3 [157], strictly above.
    def lars(source, target):
        return rules.look_ahead(source, target, mode="paper")

    assert [lars(name, "IT") for name in ("CSE", "IT", "ENGG")] == [8, 4, 4]
    assert all(lars(name, "IT") > 3 for name in ("CSE", "IT", "ENGG"))
    assert not lars("IT", "CSE") > 3
    assert lars("ENGG", "CSE") == 3
    assert not lars("ENGG", "CSE") > 3
    assert not rules.look_ahead("ENGG", "CSE") > 0.3  # A.7-3, the mode `fixed`


def test_an_uncertain_class_weighs_the_rules_by_how_likely_it_is(rules):
    page = {"IT": 0.5, "ENGG": 0.25, "COMP": 0.25}  # A.7-2
    expected = 0.5 * 0.2 + 0.25 * 0.3
    assert rules.look_ahead(page, "CSE") == pytest.approx(expected)
    two = 0.5 * 0.20 + 0.25 * 0.17
    assert rules.look_ahead(page, "CSE", hops=2) == pytest.approx(two)


def test_rules_of_few_links_are_shrunk_to_the_shares_of_all_links(rules):
    """Of the 40 links of table 2, 16 lead to IT and 5 to CSE; ten links of that kind
    count beside the ten of each class."""
    shrunk = rules.shrunk(10)
    assert shrunk.probability("CSE", "IT") == pytest.approx((8 + 10 * 16 / 40) / 20)
    assert shrunk.probability("COMP", "CSE") == pytest.approx((10 * 5 / 40) / 20)
    assert rules.shrunk(0).rows() == rules.rows()
    assert ClassRules({"A": {}}).shrunk(10).rows() == []


def test_classes_without_rules_promise_nothing(rules):
    assert rules.look_ahead("LAW", "CSE") == 0
    assert rules.look_ahead("CSE", "LAW") == 0
    assert ClassRules({}).look_ahead("CSE", "IT", 3, Paths.BEST) == 0
    assert ClassRules({"A": {"B": 0}, "C": {}}).rows() == []


def test_rules_are_shown_as_in_the_paper_the_likeliest_first(rules):
    shown = list(map(str, rules.rows()))
    assert shown[:2] == ["COMP → COMP (1)", "CSE → IT (0.8)"]


@pytest.mark.parametrize("hops", [0, 101])
def test_a_path_has_1_to_100_links(rules, hops):
    with pytest.raises(ValueError, match=f"1 to 100 links, not {hops}"):
        rules.ahead(hops)


def test_what_is_stored_is_how_many_links_there_were():
    """Table 2: class distribution into train-1 set."""
    links = [("CSE", "IT"), ("CSE", "IT"), ("CSE", "COMP")]
    assert learn_rules(links).dump() == b'{"CSE":{"COMP":1,"IT":2}}'


@given(counts)
def test_what_is_dumped_is_loaded_again(table):
    rules = ClassRules(table)
    again = load_rules(rules.dump())
    assert again.rows() == rules.rows()
    assert again.classes == rules.classes


@given(counts, st.integers(1, 6))
def test_probabilities_of_any_length_add_up_to_at_most_one(table, hops):
    rules = ClassRules(table)
    for source in rules.classes:
        row = [rule for rule in rules.ahead(hops) if rule.source == source]
        assert sum(rule.probability for rule in row) <= 1 + 1e-9


@pytest.mark.parametrize(
    "dumped",
    [b"", b"{", b"[]", b'{"a": 1}', b'{"a":{"b":-1}}', b'{"a":{"b":1.1e15}}'],
)
def test_spoilt_rules_are_refused(dumped):
    with pytest.raises(
        BadInput,
        match=r"models/rules\.json: .*remove it, and the crawl learns the rules again",
    ):
        load_rules(dumped, "models/rules.json")
