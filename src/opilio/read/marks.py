"""Elements of a document in; its visible text out, and where each of them is in it.

A mark is text in the document, so the text that the parser renders in one call says
where each one came to stand. It is a code between two NUL characters, which no document
holds: the parser makes U+FFFD of references to them, and the reader takes them out of
the markup. Text that is there takes it in, which costs half of what a new node does.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import accumulate, chain

from turbohtml import Document, Element, PlainText, Text

NUL = "\0"
MOST = 10_000  # marks of one kind
MOST_OF_A_TAG = 100_000  # elements; pages with more are hostile
PLAIN = PlainText(bullet="", table_cell_separator=" ")

# As the renderer lays them out, tables and lists lose captions and stray text, and what
# follows a word may run into it. In the text, all of these are paragraphs.
AS_PARAGRAPHS = (
    *("table", "td", "th", "caption", "ul", "ol", "menu", "dir"),
    *("form", "fieldset", "legend", "dialog", "search", "button"),
)
EMPTY = ("area", "iframe", "frame")  # they hold no text


def flatten(document: Document) -> None:
    """Make paragraphs of all that the renderer would lay out; tags are lost."""
    # All are found first: the parser makes its index of tags anew after a change.
    found = [document.select(tag)[:MOST_OF_A_TAG] for tag in AS_PARAGRAPHS]
    for element in chain.from_iterable(found):
        element.tag = "div"


def mark_starts(elements: Iterable[Element], prefix: str) -> None:
    """Mark where each element begins, by the prefix and its number."""
    for element, code in zip(elements, codes(prefix), strict=False):
        first = element[0] if len(element) else None
        if type(first) is Text:
            first.data = code + first.data
        else:
            element.insert(0, Text(code))


def mark_ends(elements: Iterable[Element], prefix: str = "") -> None:
    """Mark where each element ends."""
    for element, code in zip(elements, codes(prefix), strict=False):
        if element.tag in EMPTY:
            if element.parent is not None:  # else it is gone with the frame it was in
                element.insert_before(Text(code))
            continue
        last = element[-1] if len(element) else None
        if type(last) is Text:
            last.data += code
        else:
            element.append(Text(code))


@cache
def codes(prefix: str) -> tuple[str, ...]:
    """The marks with this prefix."""
    return tuple(f"{NUL}{prefix}{number}{NUL}" for number in range(MOST))


def render(document: Document) -> str:
    """The text that a visitor sees, with its marks."""
    return document.root.to_text(PLAIN) if document.root else ""


def split(marked: str) -> tuple[str, dict[str, int]]:
    """A rendered text without its marks, and where each of them stood, in order.

    Paragraphs are on lines of their own. Space that the renderer leaves out at the ends
    of a line stays beside a mark; it goes, so that the text is the same with any marks.
    """
    pieces = "\n".join(filter(None, marked.split("\n"))).split(NUL)
    texts = pieces[0::2]
    last, end = 0, ""  # the last text that is not empty, and its last character
    for number, text in enumerate(texts):
        if end == "\n":
            text = texts[number] = text.lstrip(" \n")
        elif end == " " and text[:1] == "\n":
            texts[last] = texts[last].rstrip(" ")
        if text:
            last, end = number, text[-1]
    places = zip(pieces[1::2], accumulate(map(len, texts)), strict=False)
    return "".join(texts), dict(places)
