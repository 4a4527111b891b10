"""Better keywords from the pages that a crawl kept (thesis, 2.5.2)."""

import pytest

from opilio.topic.keyword_updates import (
    KeywordChange,
    changed_weights,
    is_clear,
    propose_keywords,
)


def texts(*words: str) -> list[str]:
    """Pages that all have these words, in other company each: no common frame."""
    return [
        " ".join(f"{word} a{n}{place} b{n}{place}" for place, word in enumerate(words))
        for n in range(12)
    ]


KEPT = texts("bee", "honey", "bees", "queen", "honey", "eggs", "bee")
OTHERS = texts("ship", "sea", "crew", "ship")


def proposed(weights: dict[str, float], **options) -> dict[str, KeywordChange]:
    found = propose_keywords(weights, KEPT, OTHERS, language="en", **options)
    return {one.term: one for one in found}


def test_terms_of_the_kept_pages_are_added():
    found = proposed({"bee": 1.0})
    assert found["honey"].kind == "add"
    assert (found["honey"].before, found["honey"].pages, found["honey"].of) == (
        0,
        12,
        12,
    )
    assert 0 < found["honey"].after <= 1
    assert found["honey"].after == round(found["honey"].after, 3)
    assert not {"ship", "the", "sea"} & found.keys()


def test_a_keyword_that_no_kept_page_has_is_dropped():
    found = proposed({"bee": 1.0, "beekeeper": 0.8})
    assert (found["beekeeper"].kind, found["beekeeper"].after) == ("drop", 0.0)
    assert "bee" not in found or found["bee"].kind != "drop"


def test_a_weight_that_is_far_off_is_raised():
    found = proposed({"bee": 0.3, "sun": 1.0})
    assert (found["bee"].kind, found["bee"].before) == ("raise", 0.3)


def test_what_was_decided_is_left_alone():
    assert "honey" not in proposed({"bee": 1.0}, without=["Honey"])


def test_ten_pages_tell_something_and_nine_do_not():
    for count in (9, 10):
        found = propose_keywords({"bee": 1.0}, KEPT[:count], OTHERS, language="en")
        assert found if count == 10 else found == []


def test_twenty_terms_are_looked_for_unless_told_otherwise():
    kept = texts(*(f"{one}{two}ne" for one in "bdfgk" for two in "aeiou"))
    assert len(propose_keywords({}, kept, [], language="en")) == 20
    assert len(propose_keywords({}, kept, [], language="en", top=4)) == 4


def test_a_keyword_on_less_than_one_page_of_fifty_is_dropped():
    """On more it keeps a tenth of the greatest weight, however seldom it is."""
    weights = {"bee": 3.0, "drone": 1.0}
    for pages in (1, 2):
        kept = [
            *(f"bee drone c{n}" for n in range(pages)),
            *(f"bee a{n} b{n}" for n in range(100 - pages)),
        ]
        [change] = propose_keywords(weights, kept, [], language="en", top=2)
        assert (change.term, change.before) == ("drone", 0.333)
        assert (change.pages, change.of) == (pages, 100)
        assert (change.kind, change.after) == (
            ("drop", 0.0) if pages == 1 else ("lower", 0.1)
        )


def test_changes_come_with_the_weightiest_first_then_by_name():
    found = propose_keywords({"sun": 1.0, "bee": 0.3}, KEPT, OTHERS, language="en")
    weights = [(-max(one.after, one.before), one.term) for one in found]
    assert weights == sorted(weights)
    assert found[0].term == "bee" and found[1].term == "sun"


@pytest.mark.parametrize(
    ("before", "after", "clear"),
    [
        (0.25, 0.5, True),
        (0.2, 0.4, True),
        (0.4, 0.2, True),
        (0.25, 0.44, False),
        (0.0, 0.01, True),
        (0.01, 0.0, True),
        (0.0, 0.0, False),
    ],
)
def test_a_weight_changes_by_a_fifth_or_not_at_all(before, after, clear):
    assert is_clear(KeywordChange(term="bee", before=before, after=after)) is clear


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [(0, 1, "add"), (1, 0, "drop"), (0.2, 0.4, "raise"), (0.4, 0.2, "lower")],
)
def test_a_change_has_a_name(before, after, kind):
    change = KeywordChange(term="bee", before=before, after=after)
    assert (change.kind, change.pages, change.of) == (kind, 0, 0)


def test_changes_are_applied_on_the_scale_of_the_topic():
    changes = [
        KeywordChange(term="honey", before=0, after=0.5),
        KeywordChange(term="sun", before=1, after=0),
    ]
    assert changed_weights({"bee": 4.0, "sun": 2.0}, changes) == {
        "bee": 4.0,
        "honey": 2.0,
    }
    assert changed_weights({}, changes[:1]) == {"honey": 0.5}
    alone = [KeywordChange(term="bee", before=1, after=0)]
    assert changed_weights({"bee": 1.0}, alone) == {"bee": 1.0}  # never none at all
