"""Walks through markup for `walk.py` in Python, used if nothing was compiled."""

from __future__ import annotations

import re

from opilio.read.main_content.names import kinds_of, named
from opilio.read.main_content.outline import PageOutline, TextBlock, TextBox
from opilio.read.markup import end_of_raw, is_shadow, unescaped

EDITION = 1  # what was compiled is used only if it is of the same edition
DEEPEST = 512  # elements nested, as in browsers
MOST_BLOCKS = 200_000  # real pages have far fewer

BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "button", "caption"),
        *("center", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset"),
        *("figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4"),
        *("h5", "h6", "header", "hgroup", "hr", "html", "label", "legend", "li"),
        *("listing", "main", "menu", "nav", "ol", "p", "plaintext", "pre", "search"),
        *("section", "summary", "table", "tbody", "td", "template", "tfoot", "th"),
        *("thead", "tr", "ul", "xmp"),
    )
)
VOID = frozenset(
    (
        *("area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr"),
        *("img", "input", "keygen", "link", "meta", "param", "source", "track", "wbr"),
    )
)
SKIPPED = frozenset(
    (
        *("annotation", "annotation-xml", "audio", "canvas", "datalist", "desc"),
        *("head", "iframe", "map", "metadata", "meter", "noembed", "noframes"),
        *("noscript", "object", "optgroup", "option", "progress", "rp", "rt"),
        *("script", "select", "style", "svg", "textarea", "title", "video"),
    )
)
RAW = frozenset(
    (
        *("iframe", "noembed", "noframes", "noscript"),
        *("plaintext", "script", "style", "xmp"),
    )
)
PRESERVED = frozenset(("listing", "plaintext", "pre", "xmp"))
MARKED = {
    "a": "a",
    "b": "strong",
    "strong": "strong",
    "em": "em",
    "i": "em",
    "code": "code",
    "kbd": "code",
    "samp": "code",
    "tt": "code",
}
# Classes of what is shown to nobody, or to screen readers alone.
UNSEEN = frozenset(
    (
        *("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text"),
        *("screen-reader-only", "sr_only", "u-visually-hidden", "is-visually-hidden"),
        *("element-invisible", "show-for-sr", "d-none", "mw-editsection"),
    )
)

# Names of attributes may have quotes in them, and = at their beginning.
_tag = re.compile(r'<(/?)([^\s/>]+)((?: [^ ][^ =]*="[^"]*")*)>').match
_attributes = re.compile(' ([^ ][^ =]*)="([^"]*)"').findall
_is_unseen = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE
).search


def walk(markup: str, *, hidden: bool = False) -> PageOutline:
    """Walk through serialised markup; `hidden`: also read what is hidden by style."""
    return BlockWalker(markup, hidden).run()


class BlockWalker:
    """The state of a walk."""

    def __init__(self, markup: str, hidden: bool) -> None:
        self.markup = markup
        self.hidden = hidden
        self.blocks: list[TextBlock] = []
        self.boxes = [TextBox("", -1, 0, "", 0)]
        self.box = 0
        self.stack: list[tuple[str, int, int]] = []  # tag, what it is, start or box
        self.open_marks: list[tuple[str, int, str]] = []
        self.pieces: list[str] = []
        self.size = 0
        self.space = False
        self.linked = self.links = self.kinds = self.bold = 0
        self.marks: list[tuple[int, int, str, str]] = []
        self.in_link = 0
        self.preserved = 0
        self.after_break = 0
        self.seen = self.unseen = 0

    def run(self) -> PageOutline:
        """Walk from the first tag to the last."""
        markup = self.markup
        place, end = 0, len(markup)
        find = markup.find
        while place < end:
            at = find("<", place)
            if at < 0:
                at = end
            if at > place:
                self.say(markup[place:at])
                if at == end:
                    break
            if markup.startswith("<!", at):
                comment = markup.startswith("<!--", at)
                stop = find("-->" if comment else ">", at + 4 if comment else at)
                place = end if stop < 0 else stop + (3 if comment else 1)
                continue
            found = _tag(markup, at)
            if not found:
                stop = find(">", at)
                place = end if stop < 0 else stop + 1
                continue
            place = found.end()
            closing, tag, given = found.groups()
            if closing:
                self.close(tag)
            elif tag in SKIPPED or not self.open(tag, given):
                place = self.skip(tag, place)
            if len(self.blocks) >= MOST_BLOCKS:
                break
        self.flush()
        for box in self.boxes:
            box.last = box.last or len(self.blocks)
        return PageOutline(self.blocks, self.boxes, self.unseen, self.seen)

    def skip(self, tag: str, place: int) -> int:
        """Where an element that is left out ends."""
        if tag in VOID:
            return place
        if tag in RAW:
            end = end_of_raw(self.markup, tag, place)
            return min(len(self.markup), end + len(tag) + 3)
        opens, closes, level = f"<{tag}", f"</{tag}>", 1
        find = self.markup.find
        begin = place
        while level:
            end = find(closes, place)
            if end < 0:
                return len(self.markup)
            inner = find(opens, place, end)
            while inner >= 0:
                if self.markup[inner + len(opens)] in " >/":
                    level += 1
                inner = find(opens, inner + len(opens), end)
            level -= 1
            place = end + len(closes)
        if tag not in SKIPPED:
            self.unseen += place - begin
        return place

    def open(self, tag: str, given: str) -> bool:
        """Handle a start tag; False: what is in it is hidden."""
        attributes = dict(_attributes(given)) if given else {}
        if attributes and not self.hidden and is_unseen(attributes):
            return False
        if tag in BLOCKS or "-" in tag:
            return self.open_box(tag, given, attributes)
        if tag == "br":
            self.break_line()
        elif tag == "img":
            pass
        elif tag not in VOID:
            if attributes and (names := attributes.get("class")):
                self.kinds |= named(names)
            if tag == "a":
                self.in_link += 1
                self.links += 1
            elif tag == "code" and self.preserved and attributes:
                self.boxes[self.box].given.update(attributes)
            if kind := MARKED.get(tag):
                href = unescaped(attributes.get("href", "")) if tag == "a" else ""
                self.open_marks.append((kind, self.size + self.space, href))
            self.stack.append((tag, 0, self.size))
        return True

    def open_box(self, tag: str, given: str, attributes: dict[str, str]) -> bool:
        """Handle the start of an element that begins a line."""
        if tag == "template" and not is_shadow(given):
            return False
        self.flush()
        if tag == "hr" or len(self.stack) >= DEEPEST:
            return tag == "hr"
        names = f"{tag} {attributes.get('class', '')}" if attributes else tag
        kinds = kinds_of(tag, attributes)
        box = TextBox(tag, self.box, kinds, names, len(self.blocks))
        if attributes and tag in ("td", "th", "ol", "li", "pre", "code"):
            box.given = attributes
        self.stack.append((tag, 1, self.box))
        self.boxes.append(box)
        self.box = len(self.boxes) - 1
        self.preserved += tag in PRESERVED
        return True

    def close(self, tag: str) -> None:
        """Handle an end tag."""
        if not self.stack or self.stack[-1][0] != tag:
            return
        _, is_box, before = self.stack.pop()
        if is_box:
            self.flush()
            self.preserved -= tag in PRESERVED
            self.boxes[self.box].last = len(self.blocks)
            self.box = before
            return
        if kind := MARKED.get(tag):
            self.close_mark(kind)
        if tag == "a":
            self.in_link -= 1

    def close_mark(self, kind: str) -> None:
        """Record a marked stretch of text that ends here."""
        if self.open_marks:
            _, start, href = self.open_marks.pop()
            if start < self.size:
                self.marks.append((start, self.size, kind, href))
                if kind == "strong":
                    self.bold += self.size - start

    def break_line(self) -> None:
        """Handle a <br>: two in a row end a paragraph."""
        if self.preserved:
            self.say("\n")
        elif self.after_break == self.size + 1:
            self.flush()
        elif self.size:
            self.pieces.append("\n")
            self.size += 1
            self.space = False
            self.after_break = self.size + 1

    def say(self, text: str) -> None:
        """Handle a text."""
        if "&" in text:
            text = unescaped(text)
        if self.preserved:
            self.pieces.append(text)
            self.size += len(text)
            if self.in_link:
                self.linked += len(text)
            return
        said = with_single_spaces(text)
        if said[0] == " ":
            self.space = True
            said = said[1:]
            if not said:
                return
        if said[-1] == " ":
            said, after = said[:-1], True
        else:
            after = False
        if self.space and self.size and self.pieces[-1] != "\n":
            said = " " + said
        self.pieces.append(said)
        self.size += len(said)
        if self.in_link:
            self.linked += len(said)
        self.space = after

    def flush(self) -> None:
        """End the block, if it has any text."""
        if self.size:
            text = "".join(self.pieces)
            kept = text.strip("\n") if self.preserved else text.rstrip()
            if kept.strip():
                while self.open_marks and self.open_marks[-1][1] < len(kept):
                    self.close_mark(self.open_marks[-1][0])
                block = TextBlock(
                    self.box, kept, self.linked, self.links, self.kinds, self.marks
                )
                block.marked = self.bold
                self.seen += len(kept)
                self.blocks.append(block)
            self.pieces = []
            self.marks = []
        self.size = self.linked = self.links = self.kinds = self.bold = 0
        self.after_break = 0
        self.space = False
        if self.open_marks:
            self.open_marks = [(kind, 0, href) for kind, _, href in self.open_marks]


def with_single_spaces(text: str) -> str:
    """A text with one space for each run of blanks, and without soft hyphens."""
    if "\xad" in text:
        text = text.replace("\xad", "") or " "
    for blank in "\n\t\xa0\r\f\u200b":  # faster than a pattern
        if blank in text:
            text = text.replace(blank, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def is_unseen(given: dict[str, str]) -> bool:
    """Whether an element is hidden by its attributes."""
    if "hidden" in given and given["hidden"] != "until-found":
        return True
    if (style := given.get("style")) and _is_unseen(style):
        return True
    names = given.get("class", "")
    return bool(names) and not UNSEEN.isdisjoint(names.split())
