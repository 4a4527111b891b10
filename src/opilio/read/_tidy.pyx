# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Rewrites the markup of well-written pages as a parser would, without parsing them.

Most pages are written well, or nearly so: where each element ends is clear from the
rules of HTML (13.2.6 of the standard, "tree construction") without the rules' hard part,
which moves elements about. Such a page is rewritten here for `walk`, in a quarter of the
time of parsing it and writing it out again: every end tag is where it belongs, values
are quoted and escaped, and what the walk does not look at is left out. At the first
thing that makes this uncertain, the answer is None, and the page is parsed. Tests
compare the two ways.
"""

import re
from html.entities import html5

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy

EDITION = 2

cdef enum:
    DEEPEST = 400  # elements nested; parsers and browsers stop at 512
    MOST_ATTRIBUTES = 32

include "_markup.pxi"
include "_tidy_tags.pxi"
include "_tidy_output.pxi"

cdef enum:  # where we are
    BEFORE, IN_HEAD, AFTER_HEAD, IN_BODY

cdef struct Open:
    uint64_t hash
    int traits
    int which
    bint foreign  # in a drawing or formula
    Py_ssize_t name  # where it stands in what was written
    Py_ssize_t size

cdef uint8_t[256] LETTER
cdef uint8_t[256] ENDS_NAME  # of a tag
cdef uint8_t[256] ENDS_ATTRIBUTE

for _number in range(256):
    LETTER[_number] = chr(_number).isascii() and chr(_number).isalpha()
    ENDS_NAME[_number] = _number in b" \t\n\r\f/>\0"
    ENDS_ATTRIBUTE[_number] = _number in b" \t\n\r\f/>=\0\"'<"


cdef class Tidy(Output):
    """Reads markup and writes it in tidy form."""

    cdef const char *at
    cdef const char *end
    cdef Open[DEEPEST] stack
    cdef Py_ssize_t depth
    cdef int mode
    cdef bint strict  # tables end paragraphs, by the type of the document
    cdef bint odd  # the effect of that doctype is unknown
    cdef bint begun  # something other than a doctype was met
    cdef bint form_apart  # an empty form has begun
    cdef int links, forms, buttons, paragraphs, drawings, selects

    def __cinit__(self, bytes markup):
        self.at = PyBytes_AS_STRING(markup)
        self.end = self.at + PyBytes_GET_SIZE(markup)
        self.room = PyBytes_GET_SIZE(markup) + 256
        self.out = <char *>malloc(self.room)
        if self.out == NULL:
            raise MemoryError

    # The open elements

    cdef inline Open *current(self) noexcept nogil:
        return &self.stack[self.depth - 1]

    cdef int push(self, Known *known, uint64_t hash, Py_ssize_t name, Py_ssize_t size,
                  bint foreign) except -1:
        """An element is open from here."""
        cdef Open *element
        if self.depth == DEEPEST:
            raise Unsure
        element = &self.stack[self.depth]
        element.hash, element.foreign = hash, foreign
        element.traits = 0 if foreign else known.traits
        element.which = OTHER if foreign else known.which
        element.name, element.size = name, size
        self.depth += 1
        self.count(element, 1)
        return 0

    cdef inline void count(self, Open *element, int more) noexcept nogil:
        self.drawings += more * element.foreign
        if element.which == P:
            self.paragraphs += more
        elif element.which == A:
            self.links += more
        elif element.which == FORM:
            self.forms += more
        elif element.which == BUTTON:
            self.buttons += more
        elif element.which == SELECT:
            self.selects += more

    cdef int open_implied(self, const char *name, Py_ssize_t size) except -1:
        """An element begins whose tag was left out."""
        cdef uint64_t hash = hash_of(name, size)
        self.write(b"<", 1)
        self.write(name, size)
        self.write(b">", 1)
        return self.push(place_of(hash), hash, self.size - size - 1, size, False)

    cdef int pop(self) except -1:
        """The innermost element ends."""
        cdef Open *element
        self.depth -= 1
        element = &self.stack[self.depth]
        self.count(element, -1)
        self.need(element.size + 3)
        self.write(b"</", 2)
        self.write(self.out + element.name, element.size)
        return self.write(b">", 1)

    cdef int pop_until(self, Py_ssize_t depth, bint formatting=False) except -1:
        """All elements from this depth on end."""
        cdef Py_ssize_t number
        for number in range(depth + 1, self.depth):
            if self.stack[number].which == FORM or self.stack[number].foreign:
                raise Unsure
            # It would be reopened in what follows.
            if self.stack[number].traits & FORMATTING and not formatting:
                raise Unsure
        while self.depth > depth:
            self.pop()
        return 0

    cdef Py_ssize_t in_scope(self, uint64_t hash, int barriers, int which) noexcept nogil:
        """How deep an element is by its tag, or else by what it is; 0: there is none
        this side of a barrier."""
        cdef Py_ssize_t depth = self.depth - 1
        while depth > 0:
            if self.stack[depth].hash == hash if hash else self.stack[depth].which == which:
                return depth
            if self.stack[depth].traits & barriers or self.stack[depth].foreign:
                return 0
            depth -= 1
        return 0

    cdef int close_paragraph(self) except -1:
        """End the paragraph that we are in, if any."""
        cdef Py_ssize_t depth
        if self.paragraphs:
            if self.buttons:
                raise Unsure
            depth = self.in_scope(0, SCOPE, P)
            if depth:
                self.pop_until(depth)
        return 0

    # Tags

    cdef int read_attributes(self, bint is_all, bint *closes_itself) except -1:
        """Read the attributes up to the end of a tag; write those that matter."""
        cdef const char *at = self.at
        cdef const char *end = self.end
        cdef const char *name
        cdef const char *value
        cdef const char *found
        cdef Py_ssize_t[MOST_ATTRIBUTES] names
        cdef Py_ssize_t[MOST_ATTRIBUTES] sizes
        cdef Py_ssize_t size, value_size, number, start
        cdef int count = 0
        cdef char quote
        while True:
            closes_itself[0] = False
            while at < end and (BLANK[<uint8_t>at[0]] or at[0] == c"/"):
                closes_itself[0] = at[0] == c"/"
                at += 1
            if at == end:
                raise Unsure
            if at[0] == c">":
                self.at = at + 1
                return 0
            name = at
            while at < end and not ENDS_ATTRIBUTE[<uint8_t>at[0]]:
                at += 1
            size = at - name
            if at == end or not size or at[0] in b"\"'<\0":
                raise Unsure
            while at < end and BLANK[<uint8_t>at[0]]:
                at += 1
            value, value_size = at, 0
            if at < end and at[0] == c"=":
                at += 1
                while at < end and BLANK[<uint8_t>at[0]]:
                    at += 1
                if at == end:
                    raise Unsure
                value = at
                quote = at[0]
                if quote == c'"' or quote == c"'":
                    value = at + 1
                    found = <const char *>memchr(value, quote, end - value)
                    if found == NULL:
                        raise Unsure
                    value_size = found - value
                    at = found + 1
                else:
                    while at < end and not BLANK[<uint8_t>at[0]] and at[0] != c">":
                        at += 1
                    value_size = at - value
            if not is_all and not matters(name, size):
                continue
            self.need(size + 5)
            start = self.size
            self.write(b" ", 1)
            for number in range(size):
                self.out[self.size + number] = lower(name[number])
            for number in range(count):
                if sizes[number] == size and not memcmp(
                    self.out + names[number], self.out + self.size, size
                ):
                    break
            else:
                number = count
            if number < count:  # the first one counts
                self.size = start
                continue
            if count == MOST_ATTRIBUTES:
                raise Unsure
            names[count], sizes[count] = self.size, size
            count += 1
            self.size += size
            self.write(b'="', 2)
            self.write_value(value, value + value_size)
            self.write(b'"', 1)

    cdef int write_start(
        self, const char *name, Py_ssize_t size, int traits, bint *closes_itself
    ) except -1:
        """Write a start tag, whose name was read, and its attributes."""
        cdef Py_ssize_t number
        self.need(size + 2)
        self.out[self.size] = c"<"
        for number in range(size):
            self.out[self.size + 1 + number] = lower(name[number])
        self.size += size + 1
        self.read_attributes(traits & ALL_ATTRIBUTES, closes_itself)
        return self.write(b">", 1)

    cdef int start_tag(self) except -1:
        """An element begins."""
        cdef const char *name = self.at + 1
        cdef const char *at = name
        cdef char[64] tag
        cdef Py_ssize_t size = 0
        cdef uint64_t hash
        cdef Known *known
        while at < self.end and not ENDS_NAME[<uint8_t>at[0]]:
            if size == 64 or at[0] == c"<":
                raise Unsure
            tag[size] = lower(at[0])
            size += 1
            at += 1
        hash = hash_of(tag, size)
        known = place_of(hash)
        self.at = at
        if known.traits & UNSURE:
            raise Unsure
        self.begun = True
        if self.drawings:
            return self.start_foreign(name, size, hash, known)
        if self.mode != IN_BODY and not self.start_before_body(known):
            return self.start_of_document(name, size, hash, known)
        if self.selects and known.which != OPTION and known.which != OPTIONS:
            raise Unsure
        if self.prepare(known):
            return self.start_element(name, size, hash, known)
        return self.skip_tag()

    cdef int skip_tag(self) except -1:
        """A start tag that has no effect."""
        cdef bint closes_itself
        cdef Py_ssize_t size = self.size
        self.read_attributes(False, &closes_itself)
        self.size = size
        return 0

    cdef bint start_before_body(self, Known *known) except -1:
        """Is this for the body, which begins now if it has not yet?"""
        if known.which == HTML or known.which == HEAD or known.which == BODY:
            return False
        if known.traits & FOR_HEAD:
            if self.mode == AFTER_HEAD:
                raise Unsure
            return False
        self.begin_body()
        return True

    cdef int begin_head(self) except -1:
        """What was left out before the head's content begins."""
        if self.depth == 0:
            self.open_implied(b"html", 4)
        if self.mode == BEFORE:
            self.open_implied(b"head", 4)
            self.mode = IN_HEAD
        return 0

    cdef int begin_body(self) except -1:
        """What was left out before the body's content begins."""
        if self.mode < IN_HEAD:
            self.begin_head()
        if self.mode == IN_HEAD:
            self.pop()
        self.open_implied(b"body", 4)
        self.mode = IN_BODY
        return 0

    cdef int start_of_document(
        self, const char *name, Py_ssize_t size, uint64_t hash, Known *known
    ) except -1:
        """An element that is not in the body begins."""
        if known.which == HTML:
            if self.depth:
                raise Unsure
        elif known.which == HEAD:
            if self.mode != BEFORE:
                raise Unsure
            if self.depth == 0:
                self.open_implied(b"html", 4)
            self.mode = IN_HEAD
        elif known.which == BODY:
            self.begin_head()
            if self.mode == IN_HEAD:
                self.pop()
            self.mode = IN_BODY
        else:
            self.begin_head()
        return self.start_element(name, size, hash, known)

    cdef bint prepare(self, Known *known) except -1:
        """Close what this element closes; returns whether it has any effect."""
        cdef int which = known.which
        cdef Open *current
        if HTML <= which <= BODY:
            raise Unsure
        if known.traits & PART_OF_TABLE:
            return self.prepare_table(which)
        current = self.current()
        if current.which == COLUMNS:
            self.pop()
            current = self.current()
        if is_table(current.which) and not known.traits & DROPPED:
            # Anything else would be moved before the table.
            if which == FORM and not self.forms and not self.form_apart:
                self.form_apart = True
                self.write(b"<form></form>", 13)
            elif which != FORM and which != INPUT:
                raise Unsure
            return False
        if which == LI or which == DEFINITION:
            self.close_item(which)
        if known.traits & CLOSES_P:
            if which == FORM and (self.forms or self.form_apart):
                return False
            self.close_paragraph()
            if which == HEADING and self.current().which == HEADING:
                self.pop()
        elif which == TABLE:
            if self.paragraphs and self.odd:
                raise Unsure
            if self.strict:
                self.close_paragraph()
        elif which == A:
            if self.links:
                raise Unsure
        elif which == BUTTON:
            if self.buttons:
                raise Unsure
        elif which == NOBR:
            if self.in_scope(0, 0, NOBR):
                raise Unsure
        elif which == OPTION or which == OPTIONS:
            if self.current().which == OPTION:
                self.pop()
            if which == OPTIONS and self.current().which == OPTIONS:
                self.pop()
        return True

    cdef int close_item(self, int which) except -1:
        """End the item of a list that we are in, if any."""
        cdef Py_ssize_t depth = self.depth - 1
        cdef Open *element
        while depth > 0:
            element = &self.stack[depth]
            if element.which == which:
                return self.pop_until(depth)
            if element.traits & SPECIAL and element.which != P:
                if element.which != KEEPS_LIST_OPEN:
                    return 0
            depth -= 1
        return 0

    cdef bint prepare_table(self, int which) except -1:
        """End what a part of a table ends, and begin what was left out before it."""
        cdef Py_ssize_t depth = self.depth - 1
        cdef Open *current
        # The innermost cell or caption that we are in.
        while depth > 0 and not self.stack[depth].traits & SCOPE:
            if TABLE <= self.stack[depth].which <= COLUMNS:
                break
            depth -= 1
        if depth <= 0:
            return False
        current = &self.stack[depth]
        if current.which == CELL or current.which == CAPTION:
            self.pop_until(depth, True)
            current = self.current()
        elif depth != self.depth - 1 or not is_table(current.which):
            raise Unsure
        while True:
            current = self.current()
            if current.which == ROW:
                if which == CELL:
                    return True
                self.pop()
            elif current.which == ROWS:
                if which == ROW:
                    return True
                if which == CELL:
                    self.open_implied(b"tr", 2)
                    return True
                self.pop()
            elif current.which == COLUMNS:
                if which == COLUMN:
                    return True
                self.pop()
            elif current.which == TABLE:
                if which == ROW or which == CELL:
                    self.open_implied(b"tbody", 5)
                elif which == COLUMN:
                    self.open_implied(b"colgroup", 8)
                    return True
                else:
                    return True
            else:
                raise Unsure

    cdef int start_element(
        self, const char *name, Py_ssize_t size, uint64_t hash, Known *known
    ) except -1:
        """Write an element's start tag; it is open from here unless it has no end."""
        cdef bint closes_itself
        cdef Py_ssize_t before = self.size
        cdef int traits = known.traits
        if traits & DROPPED:
            self.read_attributes(False, &closes_itself)
            self.size = before
            return self.skip_raw(name, size, known.which == SCRIPT)
        self.write_start(name, size, traits, &closes_itself)
        if traits & VOID:
            return 0
        if known.which == DRAWING:
            if closes_itself:
                self.size = before
                return 0
            self.push(known, hash, before + 1, size, True)
            return 0
        self.push(known, hash, before + 1, size, False)
        if known.which == TITLE_TAG:
            return self.read_title(name)
        if known.which == IFRAME:
            self.skip_raw(name, size, False)
            return self.pop()
        if known.which == PRE:
            if self.at < self.end and self.at[0] == c"\r":
                self.at += 1
            if self.at < self.end and self.at[0] == c"\n":
                self.at += 1
        return 0

    cdef int read_title(self, const char *name) except -1:
        """The text of a title, and its end."""
        cdef const char *start = self.at
        cdef const char *line
        self.skip_raw(name, 5, False)
        cdef const char *end = self.at - 1
        while end[0] != c"<":
            end -= 1
        if memchr(start, c"<", end - start) != NULL:
            raise Unsure
        while start < end:  # lines end alike in values, and a title counts as one
            line = <const char *>memchr(start, c"\r", end - start)
            if line == NULL:
                line = end
            self.write_text(start, line)
            start = line + 1
        return self.pop()

    cdef int skip_raw(self, const char *name, Py_ssize_t size, bint is_script) except -1:
        """Continue after the end tag of this name; the text before it is not markup."""
        cdef const char *start = self.at
        cdef const char *at = self.at
        cdef const char *found
        cdef char[64] tag
        cdef Py_ssize_t number
        for number in range(size):
            tag[number] = lower(name[number])
        while True:
            at = find(at, self.end, b"</", 2)
            if at == NULL or self.end - at < size + 3:
                raise Unsure
            if is_word(at + 2, tag, size) and ENDS_NAME[<uint8_t>at[2 + size]]:
                break
            at += 2
        if is_script and find(start, at, b"<!--", 4) != NULL:
            # Scripts in comments in scripts have rules of their own.
            found = start
            while True:
                found = <const char *>memchr(found, c"<", at - found)
                if found == NULL:
                    break
                if at - found > 7 and is_word(found + 1, b"script", 6):
                    raise Unsure
                found += 1
        self.at = at + 2 + size
        return self.end_of_end_tag()

    cdef int end_of_end_tag(self) except -1:
        while self.at < self.end and BLANK[<uint8_t>self.at[0]]:
            self.at += 1
        if self.at == self.end or self.at[0] != c">":
            raise Unsure
        self.at += 1
        return 0

    cdef int start_foreign(
        self, const char *name, Py_ssize_t size, uint64_t hash, Known *known
    ) except -1:
        """An element of a drawing or formula begins."""
        cdef bint closes_itself
        cdef Py_ssize_t before = self.size
        cdef Open *current = self.current()
        if known.traits & (BREAKS_OUT | UNSURE_IN_DRAWING):
            raise Unsure
        if current.which == TITLE_TAG or current.which == TEXT_ONLY:
            raise Unsure
        self.write_start(name, size, known.traits, &closes_itself)
        self.push(known, hash, before + 1, size, True)
        if known.which == TITLE_TAG or known.which == TEXT_ONLY:
            self.current().which = known.which
        if closes_itself:
            self.pop()
        return 0

    cdef int end_tag(self) except -1:
        """An end tag, with or without an open element."""
        cdef const char *at = self.at + 2
        cdef char[64] tag
        cdef Py_ssize_t size = 0, depth
        cdef uint64_t hash
        cdef Known *known
        cdef Open *current
        while at < self.end and not ENDS_NAME[<uint8_t>at[0]]:
            if size == 64:
                raise Unsure
            tag[size] = lower(at[0])
            size += 1
            at += 1
        self.at = at
        self.end_of_end_tag()
        self.begun = True
        hash = hash_of(tag, size)
        known = place_of(hash)
        if known.which == BREAK or known.traits & UNSURE:
            raise Unsure
        if self.mode != IN_BODY:
            return self.end_before_body(known)
        current = self.current()
        if self.drawings:
            if current.hash != hash:
                raise Unsure
            return self.pop()
        if known.which == BODY or known.which == HTML:
            return 0  # what follows is in the body anyway
        if current.which == TITLE_TAG:
            raise Unsure
        if self.selects:
            return self.end_in_select(hash, known.which)
        if known.which == TABLE or known.traits & PART_OF_TABLE:
            return self.end_table(hash, known.which)
        if is_table(current.which):
            if known.which == P or known.which == FORM and self.forms:
                raise Unsure
            if known.which == FORM:
                self.form_apart = False
            return 0
        return self.end_element(hash, known)

    cdef int end_before_body(self, Known *known) except -1:
        """An end tag where the body has not begun."""
        if known.which == HEAD:
            if self.mode == AFTER_HEAD:
                return 0
            self.begin_head()
            self.pop()
            self.mode = AFTER_HEAD
        elif known.which == HTML or known.which == BODY:
            raise Unsure
        return 0

    cdef int end_in_select(self, uint64_t hash, int which) except -1:
        """An end tag inside <select>."""
        cdef Open *current = self.current()
        if which == OPTIONS and current.which == OPTION:
            if self.stack[self.depth - 2].which == OPTIONS:
                self.pop()
        elif which == SELECT:
            while self.current().which == OPTION or self.current().which == OPTIONS:
                self.pop()
        current = self.current()
        if current.hash == hash:
            return self.pop()
        if which == OPTION or which == OPTIONS:
            return 0
        raise Unsure

    cdef int end_table(self, uint64_t hash, int which) except -1:
        """A table or a part of one ends."""
        cdef Py_ssize_t depth = self.depth - 1, cell
        cdef Open *current
        if which == COLUMN or which == COLUMNS:
            if which == COLUMNS and self.current().which == COLUMNS:
                self.pop()
            elif self.current().which == COLUMNS:
                raise Unsure
            return 0
        # What is meant must be in the innermost table.
        while depth > 0 and self.stack[depth].hash != hash:
            if self.stack[depth].which == TABLE:
                return 0
            depth -= 1
        if depth <= 0:
            return 0
        for cell in range(self.depth - 1, depth, -1):
            if self.stack[cell].which == CELL or self.stack[cell].which == CAPTION:
                if which == CELL or which == CAPTION:
                    return 0
                self.pop_until(cell, True)
            elif self.stack[cell].traits & MARKER:
                raise Unsure
        if which == CELL or which == CAPTION:
            return self.pop_until(depth, True)
        if self.depth - 1 > depth and not is_table(self.current().which):
            raise Unsure
        return self.pop_until(depth)

    cdef int end_element(self, uint64_t hash, Known *known) except -1:
        """An element of the body ends, if it is open."""
        cdef int which = known.which
        cdef Py_ssize_t depth
        if known.traits & FORMATTING:
            return self.end_formatting(hash)
        if known.traits & BLOCK:
            depth = self.in_scope(hash, SCOPE, 0)
        elif which == P:
            if self.buttons:
                raise Unsure
            depth = self.in_scope(hash, SCOPE, 0)
            if not depth:
                return self.write(b"<p></p>", 7)
        elif which == LI:
            depth = self.in_scope(hash, SCOPE | LIST_SCOPE, 0)
        elif which == DEFINITION:
            depth = self.in_scope(hash, SCOPE, 0)
        elif which == HEADING:
            depth = self.in_scope(0, SCOPE, HEADING)
        elif which == FORM:
            if not self.forms:
                self.form_apart = False
                return 0
            depth = self.in_scope(hash, SCOPE, 0)
            if not depth:
                raise Unsure
            while self.current().traits & IMPLIED:
                self.pop()
            if self.depth - 1 != depth:
                raise Unsure
        else:
            depth = self.in_scope(hash, SPECIAL, 0)
        return self.pop_until(depth) if depth else 0

    cdef int end_formatting(self, uint64_t hash) except -1:
        """A formatting element ends, if it is open."""
        cdef Py_ssize_t depth = self.depth - 1, number
        while depth > 0 and self.stack[depth].hash != hash:
            if self.stack[depth].traits & MARKER:
                return 0
            depth -= 1
        if depth <= 0:
            return 0
        for number in range(depth + 1, self.depth):
            if self.stack[number].traits & SPECIAL:
                raise Unsure
        return self.pop_until(depth)

    # What is not a tag

    cdef int text(self, const char *start, const char *end) except -1:
        """Text up to the next tag."""
        cdef const char *at = start
        if self.mode != IN_BODY or is_table(self.current().which):
            while at < end and BLANK[<uint8_t>at[0]]:
                at += 1
            if at == end:
                return 0
            if self.mode == IN_BODY or at[0] == c"&":
                raise Unsure
            self.begun = True
            self.begin_body()
            start = at
        return self.write_text(start, end)

    cdef int declaration(self) except -1:
        """A comment or the like, which is left out."""
        cdef const char *at = self.at
        cdef const char *found
        if self.end - at >= 4 and not memcmp(at, b"<!--", 4):
            if self.end - at < 7 or at[4] == c">" or not memcmp(at + 4, b"->", 2):
                raise Unsure
            found = find(at + 4, self.end, b"--", 2)
            while found != NULL and self.end - found > 2 and found[2] != c">":
                if found[2] == c"!":
                    raise Unsure
                found = find(found + 1, self.end, b"--", 2)
            if found == NULL or self.end - found <= 2:
                raise Unsure
            self.at = found + 3
            return 0
        if self.drawings:
            raise Unsure
        found = <const char *>memchr(at, c">", self.end - at)
        if found == NULL:
            raise Unsure
        if found - at >= 9 and is_word(at + 2, b"doctype", 7):
            if not self.begun:
                self.strict = bool(is_modern(at[: found - at]))
                self.odd = not self.strict
            self.begun = True
        self.at = found + 1
        return 0

    cdef bytes tidied(self):
        """All of the markup."""
        cdef const char *found
        cdef char next
        while self.at < self.end:
            found = <const char *>memchr(self.at, c"<", self.end - self.at)
            if found == NULL:
                found = self.end
            if found > self.at:
                self.text(self.at, found)
            self.at = found
            if found == self.end:
                break
            if self.end - found < 3:
                raise Unsure
            next = found[1]
            if LETTER[<uint8_t>next]:
                self.start_tag()
            elif next == c"/" and LETTER[<uint8_t>found[2]]:
                self.end_tag()
            elif next == c"!" or next == c"?":
                self.declaration()
            else:
                raise Unsure
        if self.mode != IN_BODY:
            self.begin_body()
        if self.drawings and self.current().which == TITLE_TAG:
            raise Unsure  # its text ends with the page
        return PyBytes_FromStringAndSize(self.out, self.size)


cdef inline bint is_table(int which) noexcept nogil:
    """Whether this can contain only parts of a table."""
    return TABLE <= which <= ROW or which == COLUMNS


cdef bint has_old_lines(const char *text, Py_ssize_t size) noexcept nogil:
    """Whether a line ends with a lone carriage return."""
    cdef const char *end = text + size
    while True:
        text = <const char *>memchr(text, c"\r", end - text)
        if text == NULL:
            return False
        text += 1
        if text == end or text[0] != c"\n":
            return True


cdef inline char lower(char code) noexcept nogil:
    return code | 0x20 if c"A" <= code <= c"Z" else code


cdef inline bint matters(const char *name, Py_ssize_t size) noexcept nogil:
    """Whether the walk reads attributes of this name."""
    cdef int number
    for number in range(ATTRIBUTES):
        if ATTRIBUTE_SIZE[number] == size and is_word(name, ATTRIBUTE[number], size):
            return True
    return False


cdef object is_modern = re.compile(
    # Doctypes whose public identifiers put no browser into quirks mode.
    rb"""<!doctype\s+html\s*
    (?:\spublic\s+(["'])(?:-//w3c//dtd\ (?:xhtml\ 1\.|html\ 4\.01//)[^"'>]*\1
    (?:\s*(["'])(?!http://www\.ibm\.com/)[^"'>]*\2)?\s*
    |-//w3c//dtd\ html\ 4\.01\ transitional//[^"'>]*\1
    \s*(["'])(?!http://www\.ibm\.com/)[^"'>]*\3\s*))?
    """,
    re.IGNORECASE | re.VERBOSE,
).fullmatch


def tidied(bytes markup not None):
    cdef const char *text = PyBytes_AS_STRING(markup)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(markup)
    if not is_utf_8(text, size) or has_old_lines(text, size):
        return None
    try:
        return (<Tidy>Tidy(markup)).tidied()
    except Unsure:
        return None
