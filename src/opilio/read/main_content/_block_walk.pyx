# cython: language_level=3, boundscheck=False, wraparound=False
# cython: initializedcheck=False, freethreading_compatible=True
"""The compiled version of `plain_block_walk`, whose comments explain it."""

from cpython.unicode cimport PyUnicode_Substring
from libc.stdlib cimport free, malloc

from opilio.read.main_content.names import kinds_of, named
from opilio.read.main_content.outline import PageOutline, TextBlock, TextBox
from opilio.read.main_content.plain_block_walk import BLOCKS, MARKED, PRESERVED, RAW
from opilio.read.main_content.plain_block_walk import SKIPPED, VOID
from opilio.read.main_content.plain_block_walk import is_unseen
from opilio.read.markup import end_of_raw, is_shadow, unescaped

EDITION = 1

cdef extern from "Python.h":
    Py_ssize_t PyUnicode_FindChar(
        object text, Py_UCS4 one, Py_ssize_t start, Py_ssize_t end, int direction
    ) except -2
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t at)
    bint Py_UNICODE_ISSPACE(Py_UCS4 one)
    str PyUnicode_FromKindAndData(int kind, void *data, Py_ssize_t size)

cdef enum:
    DEEPEST = 512
    MOST_BLOCKS = 200_000
    SOFT_HYPHEN = 0xAD
    # What a tag is.
    IS_BOX = 1
    IS_VOID = 2
    IS_SKIPPED = 4
    IS_PRESERVED = 8
    KEEPS_GIVEN = 16

cdef dict tags = {}
for _tag in BLOCKS:
    tags[_tag] = IS_BOX
for _tag in VOID:
    tags[_tag] = tags.get(_tag, 0) | IS_VOID
for _tag in SKIPPED:
    tags[_tag] = tags.get(_tag, 0) | IS_SKIPPED
for _tag in PRESERVED:
    tags[_tag] = tags.get(_tag, 0) | IS_PRESERVED
for _tag in ("td", "th", "ol", "li", "pre", "code"):
    tags[_tag] = tags.get(_tag, 0) | KEEPS_GIVEN
cdef dict marked = MARKED


def walk(str markup not None, *, bint hidden=False):
    return BlockWalker(markup, hidden).run()


cdef class BlockWalker:
    cdef str markup
    cdef int kind  # of the characters of the markup
    cdef void *data
    cdef Py_ssize_t end
    cdef bint hidden
    cdef list blocks, boxes, stack, open_marks, pieces, marks
    cdef Py_ssize_t box, size, linked, links, bold, seen, unseen, after_break
    cdef Py_ssize_t in_link, preserved
    cdef object kinds
    cdef bint space, ends_line
    # Of the tag that was read last.
    cdef str tag
    cdef bint is_closing
    cdef Py_ssize_t given, after

    def __cinit__(self, str markup, bint hidden):
        self.markup = markup
        self.kind = PyUnicode_KIND(markup)
        self.data = PyUnicode_DATA(markup)
        self.end = len(markup)
        self.hidden = hidden
        self.blocks, self.boxes = [], [TextBox("", -1, 0, "", 0)]
        self.stack, self.open_marks, self.pieces, self.marks = [], [], [], []
        self.kinds = 0

    cdef inline Py_UCS4 at(self, Py_ssize_t place) noexcept:
        return PyUnicode_READ(self.kind, self.data, place)

    cdef inline Py_ssize_t find(self, Py_UCS4 one, Py_ssize_t place) except -2:
        return PyUnicode_FindChar(self.markup, one, place, self.end, 1)

    cdef run(self):
        cdef Py_ssize_t place = 0, at, stop
        cdef bint is_comment
        while place < self.end:
            at = self.find(c"<", place)
            if at < 0:
                at = self.end
            if at > place:
                self.say(PyUnicode_Substring(self.markup, place, at))
                if at == self.end:
                    break
            if at + 1 < self.end and self.at(at + 1) == c"!":
                is_comment = self.markup.startswith("<!--", at)
                if is_comment:
                    stop = self.markup.find("-->", at + 4)
                    place = self.end if stop < 0 else stop + 3
                else:
                    stop = self.find(c">", at)
                    place = self.end if stop < 0 else stop + 1
                continue
            if not self.read_tag(at):
                stop = self.find(c">", at)
                place = self.end if stop < 0 else stop + 1
                continue
            place = self.after
            if self.is_closing:
                self.close()
            elif not self.open():
                place = self.skip(self.tag, place)
            if len(self.blocks) >= MOST_BLOCKS:
                break
        self.flush()
        for box in self.boxes:
            box.last = box.last or len(self.blocks)
        return PageOutline(self.blocks, self.boxes, self.unseen, self.seen)

    cdef bint read_tag(self, Py_ssize_t at) except -1:
        """Read the tag that begins here; False: it is none, by the pattern `_tag`."""
        cdef Py_ssize_t place = at + 1, start
        cdef Py_UCS4 one
        self.is_closing = place < self.end and self.at(place) == c"/"
        if self.is_closing:
            place += 1
        start = place
        while place < self.end:
            one = self.at(place)
            if one == c">" or one == c"/" or Py_UNICODE_ISSPACE(one):
                break
            place += 1
        if place == start or place == self.end:
            return False
        self.given = place
        self.tag = PyUnicode_Substring(self.markup, start, place)
        while place < self.end and self.at(place) == c" ":
            place = self.end_of_attribute(place)
            if place < 0:
                return False
        if place == self.end or self.at(place) != c">":
            return False
        self.after = place + 1
        return True

    cdef Py_ssize_t end_of_name(self, Py_ssize_t place) noexcept:
        """Where the = after the name of an attribute is; -1: there is none."""
        cdef Py_UCS4 one
        if place + 1 >= self.end or self.at(place + 1) == c" ":
            return -1
        place += 2
        while place < self.end:
            one = self.at(place)
            if one == c"=":
                break
            if one == c" ":
                return -1
            place += 1
        if place + 1 >= self.end or self.at(place + 1) != c'"':
            return -1
        return place

    cdef Py_ssize_t end_of_attribute(self, Py_ssize_t place) except -2:
        """What follows the attribute that begins here with a space; -1: none does."""
        place = self.end_of_name(place)
        if place < 0:
            return -1
        place = self.find(c'"', place + 2)
        return -1 if place < 0 else place + 1

    cdef dict attributes(self):
        """The attributes of the tag that was read last."""
        cdef Py_ssize_t place = self.given, end = self.after - 1, equals, stop
        cdef dict found = {}
        while place < end:
            equals = self.end_of_name(place)
            stop = self.find(c'"', equals + 2)
            found[PyUnicode_Substring(self.markup, place + 1, equals)] = (
                PyUnicode_Substring(self.markup, equals + 2, stop)
            )
            place = stop + 1
        return found

    cdef Py_ssize_t skip(self, str tag, Py_ssize_t place) except -1:
        cdef Py_ssize_t begin = place, end, inner, level = 1
        if tag in VOID:
            return place
        if tag in RAW:
            end = end_of_raw(self.markup, tag, place)
            return min(self.end, end + len(tag) + 3)
        opens, closes = f"<{tag}", f"</{tag}>"
        while level:
            end = self.markup.find(closes, place)
            if end < 0:
                return self.end
            inner = self.markup.find(opens, place, end)
            while inner >= 0:
                if self.at(inner + len(opens)) in (c" ", c">", c"/"):
                    level += 1
                inner = self.markup.find(opens, inner + len(opens), end)
            level -= 1
            place = end + len(closes)
        if tag not in SKIPPED:
            self.unseen += place - begin
        return place

    cdef bint open(self) except -1:
        """Handle a start tag; False: what is in it is left out."""
        cdef str tag = self.tag
        cdef int what = tags.get(tag, 0)
        cdef dict given = None
        if what & IS_SKIPPED:
            return False
        if self.after - 1 > self.given:
            given = self.attributes()
            if not self.hidden and is_unseen(given):
                return False
        if what & IS_BOX or "-" in tag:
            return self.open_box(tag, what, given)
        if what & IS_VOID:
            if tag == "br":
                self.break_line()
            return True
        if given is not None and (names := given.get("class")):
            self.kinds |= named(names)
        if tag == "a":
            self.in_link += 1
            self.links += 1
        elif tag == "code" and self.preserved and given is not None:
            self.boxes[self.box].given.update(given)
        mark = marked.get(tag)
        if mark is not None:
            href = ""
            if tag == "a" and given is not None:
                href = unescaped(given.get("href", ""))
            self.open_marks.append((mark, self.size + self.space, href))
        self.stack.append((tag, False, self.size))
        return True

    cdef bint open_box(self, str tag, int what, dict given) except -1:
        if tag == "template" and not is_shadow(
            PyUnicode_Substring(self.markup, self.given, self.after - 1)
        ):
            return False
        self.flush()
        if tag == "hr" or len(self.stack) >= DEEPEST:
            return tag == "hr"
        names = tag if given is None else f"{tag} {given.get('class', '')}"
        kinds = kinds_of(tag, given)
        if given is not None and what & KEEPS_GIVEN:
            box = TextBox(tag, self.box, kinds, names, len(self.blocks), 0, given)
        else:
            box = TextBox(tag, self.box, kinds, names, len(self.blocks))
        self.stack.append((tag, True, self.box))
        self.boxes.append(box)
        self.box = len(self.boxes) - 1
        if what & IS_PRESERVED:
            self.preserved += 1
        return True

    cdef close(self):
        cdef tuple last
        if not self.stack:
            return
        last = self.stack[len(self.stack) - 1]
        if last[0] != self.tag:
            return
        self.stack.pop()
        if last[1]:
            self.flush()
            if tags.get(self.tag, 0) & IS_PRESERVED:
                self.preserved -= 1
            self.boxes[self.box].last = len(self.blocks)
            self.box = last[2]
            return
        mark = marked.get(self.tag)
        if mark is not None:
            self.close_mark(mark)
        if self.tag == "a":
            self.in_link -= 1

    cdef close_mark(self, kind):
        cdef Py_ssize_t start
        if self.open_marks:
            _, start, href = self.open_marks.pop()
            if start < self.size:
                self.marks.append((start, self.size, kind, href))
                if kind == "strong":
                    self.bold += self.size - start

    cdef break_line(self):
        if self.preserved:
            self.say("\n")
        elif self.after_break == self.size + 1:
            self.flush()
        elif self.size:
            self.pieces.append("\n")
            self.ends_line = True
            self.size += 1
            self.space = False
            self.after_break = self.size + 1

    cdef say(self, str text):
        cdef Py_ssize_t begin = 0, end
        cdef bint after = False
        if PyUnicode_FindChar(text, c"&", 0, len(text), 1) >= 0:
            text = unescaped(text)
        if self.preserved:
            self.add(text, text == "\n")
            return
        if not is_plain(text):
            text = with_single_spaces(text)
        end = len(text)
        if text[0] == c" ":
            self.space = True
            begin = 1
            if end == 1:
                return
        if text[end - 1] == c" ":
            end, after = end - 1, True
        if begin or end < len(text):
            text = PyUnicode_Substring(text, begin, end)
        if self.space and self.size and not self.ends_line:
            text = " " + text
        self.add(text, False)
        self.space = after

    cdef inline add(self, str text, bint ends_line):
        self.pieces.append(text)
        self.ends_line = ends_line
        self.size += len(text)
        if self.in_link:
            self.linked += len(text)

    cdef flush(self):
        cdef str text
        if self.size:
            text = "".join(self.pieces)
            text = text.strip("\n") if self.preserved else text.rstrip()
            if text.strip():
                while self.open_marks:
                    last = self.open_marks[len(self.open_marks) - 1]
                    if last[1] >= len(text):
                        break
                    self.close_mark(last[0])
                self.seen += len(text)
                self.blocks.append(
                    TextBlock(
                        self.box,
                        text,
                        self.linked,
                        self.links,
                        self.kinds,
                        self.marks,
                        self.bold,
                    )
                )
            self.pieces, self.marks = [], []
        self.size = self.linked = self.links = self.bold = self.after_break = 0
        self.kinds = 0
        self.space = False
        if self.open_marks:
            self.open_marks = [(kind, 0, href) for kind, _, href in self.open_marks]


cdef bint is_plain(str text):
    """Whether a text has single spaces and no other blanks."""
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef Py_ssize_t at
    cdef Py_UCS4 one, before = 0
    for at in range(len(text)):
        one = PyUnicode_READ(kind, data, at)
        if one == c" " and before == c" " or is_blank(one) or one == SOFT_HYPHEN:
            return False
        before = one
    return True


cdef inline bint is_blank(Py_UCS4 one) noexcept:
    """Whether a character other than a space counts as one."""
    if one < c" ":
        return one == c"\n" or one == c"\t" or one == c"\r" or one == c"\f"
    return one == 0xA0 or one == 0x200B


cdef str with_single_spaces(str text):
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef Py_ssize_t at, size = 0
    cdef Py_UCS4 one
    cdef Py_UCS4 *kept = <Py_UCS4 *>malloc(len(text) * sizeof(Py_UCS4))
    if kept == NULL:
        raise MemoryError
    try:
        for at in range(len(text)):
            one = PyUnicode_READ(kind, data, at)
            if one == SOFT_HYPHEN:
                continue
            if is_blank(one):
                one = c" "
            if one != c" " or size == 0 or kept[size - 1] != c" ":
                kept[size] = one
                size += 1
        return PyUnicode_FromKindAndData(4, kept, size) if size else " "
    finally:
        free(kept)
