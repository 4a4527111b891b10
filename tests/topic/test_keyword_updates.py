"""Better keywords from the pages that a crawl kept (thesis, 2.5.2)."""

from opilio.topic.keyword_updates import (
    FEWEST,
    KeywordChange,
    changed_weights,
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


def test_few_pages_tell_nothing():
    few = propose_keywords({"bee": 1.0}, KEPT[: FEWEST - 1], OTHERS, language="en")
    assert few == []


def test_changes_are_applied_on_the_scale_of_the_topic():
    changes = [
        KeywordChange(term="honey", before=0, after=0.5),
        KeywordChange(term="sun", before=1, after=0),
    ]
    assert changed_weights({"bee": 4.0, "sun": 2.0}, changes) == {
        "bee": 4.0,
        "honey": 2.0,
    }
    alone = [KeywordChange(term="bee", before=1, after=0)]
    assert changed_weights({"bee": 1.0}, alone) == {"bee": 1.0}  # never none at all
