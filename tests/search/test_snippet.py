"""Which passage of a page is quoted, and how."""

from hypothesis import given
from hypothesis import strategies as st

from opilio.read.visible_text import visible_text
from opilio.records import Response
from opilio.search.snippet import WIDTH, PageText, snippet
from opilio.text.words import stem, tokens

PROSE = "Telescopes that stand on high mountains see more of the sky than others do."


def first(text: str) -> tuple[str, int]:
    """The stem of the first word, and how long it is."""
    found = tokens(text)[:1]
    return (stem(found)[0], len(found[0])) if found else ("", 0)


def quoted(
    text: str | PageText, *wanted: str, phrases: tuple[tuple[str, ...], ...] = ()
) -> str:
    """The passage, hits in brackets."""
    page = text if isinstance(text, PageText) else PageText(text)
    pieces = snippet(page, set(wanted), first, phrases)
    return "".join(f"[{one.text}]" if one.hit else one.text for one in pieces)


def page(body: str) -> PageText:
    """What a page of this markup says."""
    headers = [("content-type", "text/html; charset=utf-8")]
    return PageText(
        *visible_text(Response("http://a.test/", 200, headers, body.encode(), 0.0))
    )


def test_a_snippet_shows_the_hits_and_no_control_characters():
    text = (
        "filler " * 100 + "the \x1b[31m black\u202e holes, <b>here</b> " + "end " * 50
    )
    shown = quoted(text, "black", "hole")
    assert "[31m [black] [holes], <b>here</b>" in shown  # text stays text
    assert "\x1b" not in shown and "\u202e" not in shown
    assert shown.startswith("…") and shown.endswith("…")


def test_the_passage_with_most_of_the_words_is_quoted_and_then_the_closest():
    far = "black. " + "x " * 200
    assert "[black] [hole]" in quoted(
        far + "a hole so black. " * 3 + "A black hole.", *("black", "hole")
    )


def test_a_whole_phrase_is_quoted_before_its_words_and_others():
    apart = "Comparable stars are in the bright cluster of this kind, or so one hears. "
    text = (
        apart * 120 + "A far telescope. " * 20 + "They made the star-cluster visible."
    )
    asked = ("star", "cluster", "bright")
    assert "[stars] are in the [bright] [cluster]" in quoted(text, *asked)
    shown = quoted(text, *asked, phrases=(("star", "cluster"),))
    assert "the [star]-[cluster] visible" in shown


def test_a_sentence_is_quoted_from_its_beginning_and_lines_are_told_apart():
    text = f"Home\nStars\nAll about it. {PROSE} And so on.\nMore"
    assert quoted(text, "mountain") == (
        "Telescopes that stand on high [mountains] see more of the sky than others do. "
        "And so on. More"
    )
    assert quoted("Home\nStars\nMore", "star") == "[Stars] · More"


def test_menus_and_footers_are_quoted_only_if_the_words_are_nowhere_else():
    body = (
        "<nav>Mountains Telescopes and much else that is to be had on this site</nav>"
        f"<h1>Sky</h1><p>{PROSE}</p><footer>Made by Zebra Telescope Makers</footer>"
    )
    assert quoted(page(body), "mountain", "telescop").startswith("[Telescopes] that")
    assert "[Zebra]" in quoted(page(body), "zebra")
    assert quoted(page(body), "nothing") == PROSE  # not the menu, nor the footer


def test_a_wrapper_of_the_whole_page_that_is_called_a_menu_is_not_one():
    assert page(f'<div class="menu-page"><p>{PROSE}</p></div>').beside == []


def test_hits_are_marked_in_scripts_without_spaces_and_where_case_changes_length():
    assert quoted("我们研究天文学和物理", "天文", "文学") == "我们研究[天文][学]和物理"
    assert quoted("İİİ Bees fly", "bee") == "İİİ [Bees] fly"


@given(st.text(max_size=300), st.lists(st.tuples(st.integers(0, 300))))
def test_any_text_has_a_snippet_of_one_line(text: str, cuts: list[tuple[int]]):
    places = sorted(place for (place,) in cuts)
    beside = list(zip(places[::2], places[1::2], strict=False))
    shown = quoted(PageText(text, beside), "a", "to")
    assert len(shown) <= 4 * WIDTH
    assert shown.isprintable()
