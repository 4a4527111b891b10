"""Describes each block of a page in numbers, from which trees.py tells its main text.

A block is described by its own text, the blocks beside it, the boxes around it and the
page as a whole. `COLUMNS` names the numbers in their order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from opilio.read.main_content.names import KINDS
from opilio.read.main_content.walk import PageOutline, TextBox

Numbers = npt.NDArray[np.float32]

LARGE = 0.5  # share of a page above which a box is the page itself
ABSENT = 2.0  # more than any share of a page
LEVELS = 5  # boxes around a block that are described
BESIDE = (-3, -2, -1, 1, 2, 3)
SHORT = 160  # characters of a line that may be no sentence

# Lines that say what they are.
CUES = {
    "date": r"\b(?:19|20)\d\d\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\bago\b|\bvor \d",
    "by": r"^(?:written |posted |reviewed |edited |words )?"
    r"(?:by|von|par|por|di|author)\b",
    "more": r"^(?:(?:read|learn|see|show|view|load|find out|discover|weiter|mehr|lire|"
    r"leer)\b|more|continue|»|→)",
    "share": r"\b(?:share|tweet|follow us|follow|teilen|partager|compartir|print|email|"
    r"copy link|whatsapp|facebook|twitter|linkedin|pinterest|instagram)\b",
    "subscribe": r"\b(?:subscribe|newsletter|sign ?up|inbox|join|register|log ?in|"
    r"sign in|anmelden|abonnieren|abonnez|suscríb)",
    "comment": r"\b(?:comments?|repl(?:y|ies)|kommentare?|commentaires?|"
    r"comentarios?)\b",
    "related": r"\b(?:related|recommended|you (?:may|might)|also like|read next|"
    r"popular|trending|latest|more from|similar|auch interessant|mehr zum thema|"
    r"lire aussi|recent|see also|customers)\b",
    "legal": r"©|\(c\)|\b(?:copyright|all rights reserved|privacy|terms|cookies?|"
    r"imprint|impressum|datenschutz)\b",
    "tags": r"^(?:tags?|filed under|categor(?:y|ies)|topics?|posted in|labels?|"
    r"schlagw|themen|mots)",
    "photo": r"\b(?:photo|image|picture|foto|bild|credit|getty|reuters|shutterstock|"
    r"source|courtesy|afp|unsplash)\b",
    "ad": r"\b(?:advertisement|anzeige|sponsored|werbung|publicité|publicidad|"
    r"promoted|affiliate)\b",
    "count": r"^\W*\d[\d.,]*\s*(?:k|m)?\s*(?:min|views?|likes?|shares?|comments?|"
    r"votes?|stars?|reviews?|points?|answers?)?\b.{0,12}$",
    "price": r"[$€£¥]\s?\d|\d\s?(?:€|usd|eur)",
    "jump": r"^(?:home|menu|search|next|previous|prev|back|top|skip|close|contents|"
    r"table of contents|toggle|cancel|ok|submit|edit|reply|quote|report|help)\b",
    "question": r"\?$",
}
NO_CUES = (False,) * len(CUES)
_cues = [re.compile(pattern).search for pattern in CUES.values()]
MARKS = ".,;:!?。，、"
DIGITS = dict.fromkeys(map(ord, "0123456789"))  # for str.translate: leaves them out
_ends = re.compile(r"[.!?…。！？][\"'”’)\]]*$").search
_words = re.compile(r"\w+").findall
_first_word = re.compile(r"\w+").search

OWN_TAGS = (
    *("p", "li", "td", "th", "pre", "blockquote", "dt", "dd", "figcaption"),
    *("div", "section", "button", "label", "summary", "caption"),
)
OWN = (
    *("length", "words", "mean", "marks", "ended", "upper", "capital", "digits"),
    *("links", "linked", "bold", "lines", "heading", "title", "first_seen", "pipes"),
)
SHARED = ("length", "linked", "ended", "heading", "is_p", "is_li", "marks")
AROUND = ("share", "linked", "marks", "blocks", "prose", "same", "headings", "ended")
PAGE = (
    *("chars", "blocks", "linked", "prose", "articles", "mains", "place", "before"),
    *("after_title", "from_title", "in_best", "best_share", "from_best", "best_prose"),
    *("best_linked", "in_wider", "wider_share", "in_article", "in_main"),
    *("same_block", "depth", "article_share", "only_article"),
    *("beside_main", "least_beside", "good", "in_comments", "comment_share"),
    *("thread_share", "sidebar_share", "card_share"),
)
# Kinds of boxes beside the main text, and of those with it.
BESIDE_MAIN = (
    *("related", "popular", "share", "navigation", "footer", "sidebar", "advertising"),
    *("newsletter", "login", "popup", "search", "nav", "aside", "dialog"),
)
WITH_MAIN = ("content", "article", "main", "summary", "thread")
ABOUT = ("article", "product", "thread", "list", "home", "slug", "page")

COLUMNS = (
    *OWN,
    *(f"tag_{tag}" for tag in OWN_TAGS),
    *(f"says_{cue}" for cue in CUES),
    *(f"beside{step}_{name}" for step in BESIDE for name in SHARED),
    *(f"around{level}_{name}" for level in range(LEVELS) for name in AROUND),
    *(f"in_{kind}" for kind in KINDS),
    *(f"inline_{kind}" for kind in KINDS[:38]),
    *(f"page_{name}" for name in PAGE),
    *(f"about_{name}" for name in ABOUT),
)
INLINE = 38


def describe(outline: PageOutline, title: str, about: Sequence[float]) -> Numbers:
    """One row per block, one column per name in COLUMNS; `about`: see page_kind.py."""
    rows = BlockFeatures(outline, title).rows()
    whole = np.tile(np.array(about, np.float32), (len(rows), 1))
    return np.concatenate((rows, whole), axis=1)


class BlockFeatures:
    """The numbers of one page."""

    def __init__(self, outline: PageOutline, title: str) -> None:
        self.blocks = outline.blocks
        self.boxes = outline.boxes
        words = _words(title.lower())
        self.title, self.title_start = " ".join(words), words[0] if words else ""
        self.length = np.array([len(block.text) for block in self.blocks], np.float32)
        self.linked = np.array([block.linked for block in self.blocks], np.float32)
        self.linked = np.minimum(self.linked, self.length)
        self.inner = np.array([block.box for block in self.blocks], np.int32)
        self.first = np.array([box.first for box in self.boxes], np.int32)
        self.last = np.array([box.last for box in self.boxes], np.int32)
        self.tags = [box.tag for box in self.boxes]

    def rows(self) -> Numbers:
        """All columns."""
        own, tags = self.own(), self.own_tags()
        cues = self.cues()
        self.note_sums(own, tags)
        columns = (
            own,
            tags,
            cues,
            self.beside(own, tags),
            self.around(),
            self.kinds(),
            self.inline(),
            self.page(own),
        )
        return np.concatenate(columns, axis=1, dtype=np.float32)

    def own(self) -> Numbers:
        """Columns about the text of a block."""
        seen: set[str] = set()
        rows = []
        for block in self.blocks:
            text = block.text
            size = len(text)
            said = short_text(text) if size <= SHORT else numbers_of(text)
            rows.append(
                (
                    *said[:8],
                    min(block.links, 50),
                    min(1.0, block.linked / size),
                    min(1.0, block.marked / size),
                    said[8],
                    heading_level(self.tags[block.box]),
                    self.likeness(text) if size < 300 else 0.0,
                    text not in seen,
                    said[9],
                )
            )
            seen.add(text)
        return np.array(rows, np.float32)

    def likeness(self, text: str) -> float:
        """How much of the title a block repeats."""
        said = text.lower()
        first = _first_word(said)
        if not first or not self.title:
            return 0.0
        if first[0] not in self.title and self.title_start not in said:
            return 0.0  # as for most blocks
        plain = " ".join(_words(said))
        if len(plain) < 4:
            return 0.0
        if plain == self.title:
            return 2.0
        if plain in self.title:
            return 1.0 + len(plain) / len(self.title) / 2
        return 0.5 if self.title in plain else 0.0

    def own_tags(self) -> Numbers:
        """One column per tag."""
        places = {tag: number for number, tag in enumerate(OWN_TAGS)}
        rows = np.zeros((len(self.blocks), len(OWN_TAGS)), np.float32)
        for number, block in enumerate(self.blocks):
            place = places.get(self.tags[block.box])
            if place is not None:
                rows[number, place] = 1
        return rows

    def cues(self) -> Numbers:
        """Columns about what a short line says."""
        return np.array([cues_of(block.text) for block in self.blocks], np.float32)

    def note_sums(self, own: Numbers, tags: Numbers) -> None:
        """Sums over all blocks before each, from which those of a box follow."""
        prose = np.where(
            (self.length > 80) & (self.linked < 0.3 * self.length), self.length, 0
        )
        self.prose = prose - np.minimum(self.linked, prose)
        marks = own[:, 3] * (own[:, 1] + 1)
        columns = (
            self.length,
            self.linked,
            marks,
            self.prose,
            own[:, 12] > 0,
            own[:, 4],
        )
        table = np.stack(columns, axis=1).astype(np.float64)
        self.sums = np.zeros((len(table) + 1, len(columns)))
        np.cumsum(table, axis=0, out=self.sums[1:])
        self.totals = self.sums[self.last] - self.sums[self.first]
        self.all = self.sums[-1]
        size = np.maximum(self.totals[:, 0], 1)
        sorts = Counter(box.names for box in self.boxes)
        same = np.log1p([sorts[box.names] for box in self.boxes])
        count = self.last - self.first
        self.box_rows = np.stack(
            (
                self.totals[:, 0] / max(1, self.all[0]),
                self.totals[:, 1] / size,
                self.totals[:, 2] / size,
                np.log1p(count),
                self.totals[:, 3] / size,
                same,
                np.log1p(self.totals[:, 4]),
                self.totals[:, 5] / np.maximum(1, count),
            ),
            axis=1,
        ).astype(np.float32)
        self.wider = wider_boxes(self.boxes, self.first, self.last)

    def beside(self, own: Numbers, tags: Numbers) -> Numbers:
        """Columns about the blocks before and after."""
        table = np.stack(
            (own[:, 0], own[:, 9], own[:, 4], own[:, 12], tags[:, 0], tags[:, 1]),
            axis=1,
        )
        table = np.concatenate((table, own[:, 3:4]), axis=1)
        return np.concatenate([shifted(table, step) for step in BESIDE], axis=1)

    def around(self) -> Numbers:
        """Columns about the boxes around a block, from the inside out."""
        number = self.inner
        columns = []
        for _ in range(LEVELS):
            columns.append(self.box_rows[number])
            number = self.wider[number]
        return np.concatenate(columns, axis=1)

    def kinds(self) -> Numbers:
        """One column per kind: the share of the page of the nearest box of it."""
        shares = self.box_rows[:, 0]
        rows = np.full((len(self.boxes), len(KINDS)), ABSENT, np.float32)
        for number, box in enumerate(self.boxes):
            if number:
                rows[number] = rows[box.parent]
            kinds, share = box.kinds, shares[number]
            while kinds:
                bit = kinds & -kinds
                rows[number, bit.bit_length() - 1] = share
                kinds ^= bit
        self.kind_rows = rows
        return rows[self.inner]

    def inline(self) -> Numbers:
        """One column per kind of the elements in a line."""
        rows = np.zeros((len(self.blocks), INLINE), np.float32)
        for number, block in enumerate(self.blocks):
            kinds = block.kinds
            while kinds:
                bit = kinds & -kinds
                place = bit.bit_length() - 1
                if place < INLINE:
                    rows[number, place] = 1
                kinds ^= bit
        return rows

    def page(self, own: Numbers) -> Numbers:
        """Columns about the page and the place of a block on it."""
        count = len(self.blocks)
        rows = np.zeros((count, len(PAGE)), np.float32)
        place = np.arange(count)
        chars = max(1, self.all[0])
        rows[:, 0] = np.log1p(chars)
        rows[:, 1] = np.log1p(count)
        rows[:, 2] = self.all[1] / chars
        rows[:, 3] = self.all[3] / chars
        rows[:, 4] = min(20, self.tags.count("article"))
        rows[:, 5] = min(3, self.tags.count("main"))
        rows[:, 6] = place / count
        rows[:, 7] = self.sums[:-1, 0] / chars
        main = self.title_place(own)
        if main >= 0:
            rows[:, 8] = place > main
            rows[:, 9] = np.sign(place - main) * np.log1p(np.abs(place - main))
        self.add_best(rows, place)
        shares = self.kind_rows[self.inner]
        rows[:, 17] = shares[:, KINDS.index("article")] < ABSENT
        rows[:, 18] = shares[:, KINDS.index("main")] < ABSENT
        counts = Counter(
            (self.boxes[block.box].names, self.boxes[block.box].parent)
            for block in self.blocks
        )
        rows[:, 19] = [
            counts[self.boxes[block.box].names, self.boxes[block.box].parent]
            for block in self.blocks
        ]
        depths = np.zeros(len(self.boxes), np.float32)
        for number, box in enumerate(self.boxes):
            if number:
                depths[number] = depths[box.parent] + 1
        rows[:, 20] = depths[self.inner]
        articles = [n for n, tag in enumerate(self.tags) if tag == "article"]
        if articles:
            best = max(articles, key=lambda n: self.totals[n, 3])
            inside = (place >= self.first[best]) & (place < self.last[best])
            rows[:, 21] = self.box_rows[best, 0] * np.where(inside, 1, -1)
            rows[:, 22] = inside * (self.totals[best, 3] / max(1, self.all[3]))
        self.add_sides(rows)
        return rows

    def add_sides(self, rows: Numbers) -> None:
        """Columns about all boxes around a block that stand beside the main text."""
        shares = self.box_rows[:, 0]
        bad = sum(1 << KINDS.index(kind) for kind in BESIDE_MAIN)
        good = sum(1 << KINDS.index(kind) for kind in WITH_MAIN)
        comment = 1 << KINDS.index("comment")
        table = np.zeros((len(self.boxes), 4), np.float32)
        table[0] = 0, ABSENT, 0, 0
        for number, box in enumerate(self.boxes):
            if not number:
                continue
            row = table[number]
            row[:] = table[box.parent]
            share = shares[number]
            if box.kinds & bad and share < LARGE:
                row[0] += (box.kinds & bad).bit_count()
                row[1] = min(row[1], share)
            row[2] += (box.kinds & good).bit_count()
            row[3] += bool(box.kinds & comment)
        rows[:, 23:27] = table[self.inner]
        chars = max(1, self.all[0])
        for place, kind in enumerate(("comment", "thread", "sidebar", "cards"), 27):
            inside = self.kind_rows[self.inner, KINDS.index(kind)] < ABSENT
            rows[:, place] = (self.length * inside).sum() / chars

    def title_place(self, own: Numbers) -> int:
        """The number of the block that is the page's own heading; -1: none."""
        level, like = own[:, 12], own[:, 13]
        worth = like * 2 + (level == 1) * 2 + (level == 2) * 0.5
        worth = np.where(level > 0, worth, 0)
        if not len(worth) or worth.max() < 1.5:
            return -1
        return int(np.argmax(worth))

    def add_best(self, rows: Numbers, place: npt.NDArray[np.int64]) -> None:
        """Columns about the box with most prose directly in it, as Readability does."""
        worth = np.zeros(len(self.boxes))
        number = self.inner
        for weight in (1.0, 0.8, 0.4):
            np.add.at(worth, number, self.prose * weight)
            number = self.wider[number]
        worth *= 1 - self.box_rows[:, 1]
        worth[0] = 0
        best = int(np.argmax(worth))
        first, last = int(self.first[best]), int(self.last[best])
        inside = (place >= first) & (place < last)
        away = np.where(place < first, place - first, np.maximum(0, place - last + 1))
        rows[:, 10] = inside
        rows[:, 11] = self.box_rows[best, 0]
        rows[:, 12] = np.sign(away) * np.log1p(np.abs(away))
        rows[:, 13] = self.box_rows[best, 4]
        rows[:, 14] = self.box_rows[best, 1]
        around = self.wider[best]
        rows[:, 15] = (place >= self.first[around]) & (place < self.last[around])
        rows[:, 16] = self.box_rows[around, 0]


def numbers_of(text: str) -> tuple[float, ...]:
    """The columns of `own` that follow from the text alone, in their order."""
    words = text.split()
    size, count = len(text), len(words)
    first = words[:40]
    return (
        np.log1p(size) if size > 5000 else LOGS[size],
        min(count, 500),
        size / max(1, count),
        sum(map(text.count, MARKS)) / (count + 1),
        bool(_ends(text)),
        text[:1].isupper(),
        sum([word[0].isupper() for word in first]) / max(1, len(first)),
        digits_in(text[:200]) / min(size, 200),
        min(text.count("\n"), 50),
        text.count("|") + text.count("•") + text.count("/"),
    )


short_text = lru_cache(maxsize=2**12)(numbers_of)  # the pages of a site share lines


def cues_of(text: str) -> tuple[bool, ...]:
    """What a line says of itself; a long one is no such line."""
    return short_cues(text) if len(text) <= SHORT else NO_CUES


@lru_cache(maxsize=2**12)  # the pages of a site share many lines
def short_cues(text: str) -> tuple[bool, ...]:
    """What a short line says of itself."""
    text = text.lower()  # faster than patterns that ignore case
    return tuple([says(text) is not None for says in _cues])


def wider_boxes(
    boxes: Sequence[TextBox], first: npt.NDArray[np.int32], last: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """For each box the next one around it that holds more blocks."""
    wider = [0] * len(boxes)
    ranges = list(zip(first.tolist(), last.tolist(), strict=True))
    for number, box in enumerate(boxes):
        if number:
            above = box.parent
            same = ranges[above] == ranges[number]
            wider[number] = wider[above] if same else above
    return np.array(wider, np.int32)


def shifted(table: Any, step: int) -> Any:
    """The rows of the blocks `step` further on; -1 beyond the ends."""
    found = np.full_like(table, -1)
    if abs(step) >= len(table):
        return found
    if step > 0:
        found[:-step] = table[step:]
    else:
        found[-step:] = table[:step]
    return found


def digits_in(text: str) -> int:
    """The number of digits in a text."""
    if text.isascii():
        return len(text) - len(text.translate(DIGITS))
    return sum(map(str.isdigit, text))


def heading_level(tag: str) -> int:
    """1 to 6 for a heading, else 0."""
    return int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456" else 0


LOGS = np.log1p(np.arange(5001)).tolist()
