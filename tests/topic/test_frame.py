"""What pages share by accident is left out of their keywords, what they share as
their topic is not."""

import pytest

from opilio.topic.keywords import keywords

LEAVES = [
    "Green leaves use photosynthesis to turn sunlight into sugar.",
    "In the ocean, algae rely on photosynthesis for growth near the surface.",
    "Chloroplasts are where photosynthesis happens inside plant cells; algae too.",
    "Breeders hope that better photosynthesis raises the yield of sugar cane.",
    "Without light, photosynthesis stops and plant cells consume their sugar.",
]
FRAME = "Our gazette: subscribe to the weekly newsletter."


def test_a_word_that_every_page_has_once_in_its_own_sentence_comes_first():
    assert next(iter(keywords(LEAVES))) == "photosynthesis"


@pytest.mark.parametrize("where", ["before", "after", "between"])
def test_a_text_that_every_page_repeats_is_the_frame_and_left_out(where: str):
    framed = {
        "before": [f"{FRAME} {text}" for text in LEAVES],
        "after": [f"{text} {FRAME}" for text in LEAVES],
        "between": [text.replace(" ", f" {FRAME} ", 1) for text in LEAVES],
    }
    found = keywords(framed[where], top=20)
    assert list(found) == list(keywords(LEAVES, top=20))


def test_a_phrase_of_three_words_is_no_frame():
    texts = [
        text.replace("photosynthesis", "adenosine triphosphate synthase")
        for text in LEAVES
    ]
    found = list(keywords(texts))
    assert {"adenosine", "triphosphate", "synthase"} == set(found[:3])


def test_one_page_of_five_may_lack_the_frame_but_not_two():
    some = [*(f"{text} {FRAME}" for text in LEAVES[:4]), LEAVES[4]]
    assert "newsletter" not in keywords(some, top=20)
    fewer = [*(f"{text} {FRAME}" for text in LEAVES[:3]), *LEAVES[3:]]
    assert "newsletter" in keywords(fewer, top=20)


def in_company(number: int) -> str:
    """A text of words that all such texts have, in other company each."""
    words = ("chloroplast", "stoma", "xylem", "phloem", "cuticle", "pollen", "stamen")
    return " ".join(f"{word} {word[:3]}{number}" for word in words)


def test_three_pages_are_too_few_to_recognise_the_frame_and_three_of_four_too():
    framed = [f"{in_company(n)} {FRAME}" for n in range(4)]
    assert "newsletter" in keywords(framed[:3], top=40)
    assert "newsletter" not in keywords(framed, top=40)
    assert "newsletter" in keywords([*framed[:3], in_company(3)], top=40)


@pytest.mark.parametrize(
    ("phrase", "kept"),
    [("adenosine triphosphate synthase", True), ("our gazette newsletter shop", False)],
)
@pytest.mark.parametrize("where", ["first", "inside", "last"])
def test_four_words_in_a_row_are_a_frame(phrase, kept, where):
    """With the edge of a page as a word, three at its edge are."""
    places = {"first": "{1} {0}", "inside": "xylem{2} {1} {0}", "last": "{0} {1}"}
    texts = [
        places[where].format(f"leaf{n} {text}", phrase, n)
        for n, text in enumerate(LEAVES)
    ]
    found = keywords(texts, top=40).keys()
    assert {*phrase.split()} <= found or not {*phrase.split()} & found
    assert (phrase.split()[1] in found) == (kept and where == "inside")


def test_two_words_at_the_end_of_all_pages_are_no_frame():
    found = keywords([f"{in_company(n)} adenosine synthase" for n in range(5)], top=40)
    assert {"adenosine", "synthase"} <= found.keys()


def test_what_follows_the_frame_at_a_distance_is_not_in_it():
    texts = [f"{FRAME} leaf{n} adenosine {in_company(n)}" for n in range(5)]
    found = keywords(texts, top=40)
    assert "adenosine" in found and "newsletter" not in found


def test_words_of_the_frame_in_another_order_are_not_the_frame():
    framed = [f"{in_company(n)} {FRAME}" for n in range(3)]
    other = " ".join(f"{word} z{n}" for n, word in enumerate(FRAME.split()))
    assert "newsletter" in keywords([*framed, f"{in_company(3)} {other}"], top=40)


def test_words_of_a_single_page_are_left_out():
    found = keywords([in_company(n) for n in range(4)], top=40)
    assert "chloroplast" in found and "chl0" not in found


def test_what_makes_up_half_of_the_words_that_pages_share_is_no_frame():
    frame = "gazette newsletter webmaster sitemap"
    for others in (4, 5):
        words = ("stoma", "xylem", "phloem", "cuticle", "stamen")[:others]
        texts = [
            " ".join(f"{word} {word[:3]}{n}" for word in words) + f" {frame}"
            for n in range(5)
        ]
        assert ("newsletter" in keywords(texts, top=40)) == (others == 4)


def test_a_frame_has_its_words_less_than_three_times_on_two_pages():
    """1.5 times a page on average is too often; a little less is not."""
    spoken = [f"{in_company(n)} {FRAME}" for n in range(4)]
    for often in (1, 2):
        spoken[often] += " A newsletter."
        assert ("newsletter" in keywords(spoken, top=40)) == (often == 2)


def test_a_word_of_the_frame_that_the_pages_speak_of_is_no_accident():
    about = [f"{text} Photosynthesis: {FRAME}" for text in LEAVES]
    assert next(iter(keywords(about))) == "photosynthesis"


def test_pages_that_are_nearly_the_same_have_their_words_all_the_same():
    copies = [f"Bees honey hive swarm queen pollen wax nectar {n}." for n in range(6)]
    bees = {"bees", "honey", "hive", "swarm", "queen", "pollen", "wax", "nectar"}
    assert keywords(copies).keys() == bees
    # Two of them say a little more: that is not all there is to say of them.
    copies[:2] = [f"{text} Propolis." for text in copies[:2]]
    assert keywords(copies).keys() == bees | {"propolis"}


def test_pages_without_a_word_in_common_have_words_nevertheless():
    assert keywords(["acid", "salt", "base", "metal"]).keys() == {
        *("acid", "salt", "base", "metal")
    }
