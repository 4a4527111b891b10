# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The functions of `plain_walk`, compiled; they answer the same, and are tested to.

The markup is walked as UTF-8. What may be told of an element later is remembered by its
place in the markup; strings are made of it only if it is told. The text is never longer
than the markup, so it is written into one piece of memory of that size.
"""

from cpython.unicode cimport (
    Py_UNICODE_ISSPACE,
    PyUnicode_DecodeUTF8,
    PyUnicode_FindChar,
    PyUnicode_READ_CHAR,
    PyUnicode_Substring,
)
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

include "_bits.pxi"
include "_markup.pxi"
include "_memory.pxi"
include "_hrefs.pxi"

from opilio.read import plain_links, tags
from opilio.read import plain_walk as plain
from opilio.read.parsed_markup import clean
from opilio.read.markup import unescaped
from opilio.read.region_names import told_of
from opilio.records import Link
from opilio.text.urls import fingerprint as fingerprint_of

EDITION = 9

cdef enum:
    LINE = 1
    VOID = 2
    HIDDEN = 4
    RAW = 8
    KEPT_LINES = 16
    HEADING = 32
    SURE = 64
    LIST = 128
    NAMED = 256
    LINK = 512
    FRAME = 1024
    IMAGE = 2048
    DECLARES = 4096
    SHADOW = 8192
    LINKS = LINK | FRAME
    REGIONS = SURE | LIST | NAMED
    ASKED = LINKS | REGIONS | HEADING | IMAGE
    ROOM = 1024  # places for tags, so that nearly all are found at the first try
    FIRST_DEPTH = 64
    MOST_NAMES = 4096
    FIRST_PATHS = 64
    MOST_PATHS = 4096  # that are remembered; a hostile page has one for each element
    LONGEST_NAMES = 200  # bytes of a tag with its attributes that is remembered

cdef struct Span:
    Py_ssize_t start
    Py_ssize_t size  # -1: there is none

cdef struct Known:
    uint64_t hash
    int kind

cdef struct Open:
    uint64_t hash
    Span tag
    Span whole  # the tag with its attributes
    int kind
    bint told
    Py_ssize_t start  # characters before it
    Py_ssize_t at  # bytes before it
    Py_ssize_t opened
    Py_ssize_t links
    Py_ssize_t linked
    Py_ssize_t path  # number of its path; -1: not known yet
    Span picture
    Span[ATTRIBUTES] given

cdef struct Step:
    uint64_t hash  # of a tag
    Py_ssize_t below  # a path that goes one step on; 0: there is none
    Py_ssize_t beside  # another path that differs in the last step; 0: none

cdef Known[ROOM] KNOWN
cdef uint8_t[256] PLAIN  # bytes of text that are copied unchanged
cdef Py_ssize_t MOST_LINKS = plain.MOST_LINKS
cdef Py_ssize_t MOST_PARTS = plain.MOST_PARTS
cdef Py_ssize_t MOST_DECLARED = plain.MOST_DECLARED
cdef object Passage = plain.Passage
cdef object Part = plain.Part
cdef Py_ssize_t MAX_LINKS = plain_links.MAX_LINKS
cdef Py_ssize_t MAX_ANCHOR = plain_links.MAX_ANCHOR
cdef Py_ssize_t MUCH = plain_links.MUCH
cdef Py_ssize_t LONGEST_PATH = plain.LONGEST_PATH
cdef Py_ssize_t LONGEST_STEP = plain.LONGEST_STEP

# What is known about elements, by tag and all attributes as the parser writes them.
cdef dict KNOWN_NAMES = {}
cdef object UNKNOWN = object()
cdef object FOUND = object()


cdef inline int kind_of(uint64_t hash) noexcept nogil:
    cdef uint64_t place = (hash >> 20) % ROOM
    while KNOWN[place].hash:
        if KNOWN[place].hash == hash:
            return KNOWN[place].kind
        place = (place + 1) % ROOM
    return 0


def _learn():
    cdef uint64_t hash, place
    cdef bytes name
    for tag, kind in tags.TAGS.items():
        name = tag.encode()
        hash = hash_of(name, len(name))
        place = (hash >> 20) % ROOM
        while KNOWN[place].hash:
            place = (place + 1) % ROOM
        KNOWN[place].hash, KNOWN[place].kind = hash, kind
    for number in range(256):
        PLAIN[number] = number not in b" \t\n\r\f<&\0"


_learn()


cdef inline uint64_t ends_of_words(uint64_t eight) noexcept nogil:
    """The upper bit of each of eight bytes that is a space or before it in ASCII, < or
    &."""
    cdef uint64_t low = ~(ONES << 7)
    cdef uint64_t less = eight ^ (ONES * 60)
    cdef uint64_t ampersand = eight ^ (ONES * 38)
    return ~(
        ((eight & low) + ONES * 95 | eight)
        & ((less & low) + low | less)
        & ((ampersand & low) + low | ampersand)
    ) & ~low


cdef inline bint is_name(
    const char *name, Py_ssize_t size, const char *wanted, Py_ssize_t length
) noexcept nogil:
    return size == length and not memcmp(name, wanted, length)


cdef int attribute(const char *name, Py_ssize_t size) noexcept nogil:
    """Which of the known attributes this is."""
    cdef int which
    for which in range(ATTRIBUTES):
        if is_name(name, size, ATTRIBUTE[which], ATTRIBUTE_SIZE[which]):
            return which
    return ATTRIBUTES


cdef inline Py_ssize_t next_attribute(
    const char *markup, Py_ssize_t start, Py_ssize_t end, Span *name, Span *value
) noexcept nogil:
    """Where the name and the value of an attribute are; where it ends, -1 if there is
    none."""
    cdef const char *found
    if start + 2 >= end or markup[start] != c" ":
        return -1
    name.start = start + 1
    found = <const char *>memchr(markup + start + 2, c"=", end - start - 2)
    if found == NULL or found + 1 >= markup + end or found[1] != c'"':
        return -1
    name.size = found - markup - name.start
    value.start = found - markup + 2
    found = <const char *>memchr(markup + value.start, c'"', end - value.start)
    if found == NULL:
        return -1
    value.size = found - markup - value.start
    return value.start + value.size + 1


cdef inline void look_at_attributes(
    Open *element, const char *markup, Py_ssize_t start, Py_ssize_t end
) noexcept nogil:
    """Remember the places of the known attributes between these two."""
    cdef Span name, value
    cdef int which
    while True:
        start = next_attribute(markup, start, end, &name, &value)
        if start < 0:
            return
        which = attribute(markup + name.start, name.size)
        if which != ATTRIBUTES:
            element.given[which] = value


cdef bint is_shadow(const char *markup, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Whether the attributes between these places leave the content visible."""
    cdef Span name, value
    cdef bint found = False
    while True:
        start = next_attribute(markup, start, end, &name, &value)
        if start < 0:
            return found
        if is_name(markup + name.start, name.size, b"shadowrootmode", 14):
            found = (
                value.size == 4 and is_word(markup + value.start, b"open", 4)
            ) or (value.size == 6 and is_word(markup + value.start, b"closed", 6))


cdef class Walker:
    """The state of the walk: its place in the document, and what it has found."""

    cdef object page  # what has the memory of the markup
    cdef const char *markup
    cdef Py_ssize_t length  # of the markup, in bytes
    cdef char *text
    cdef Py_ssize_t at, size  # bytes and characters of the text
    cdef char blank  # what comes before the next word; 0: nothing
    cdef int hidden, kept_lines
    cdef Open *stack
    cdef Py_ssize_t depth, room
    cdef Py_ssize_t rank, begun, met, linked
    cdef list links, parts, declared
    cdef list paths  # that were met; the first is empty
    cdef Step *steps  # the last step of each
    cdef Py_ssize_t steps_room
    cdef Hrefs hrefs  # of settled links; None: all links are told
    cdef const int64_t[::1] settled

    def __cinit__(self, page, Hrefs hrefs, settled):
        cdef Encoded encoded
        if hrefs is not None and settled is not None:
            self.hrefs, self.settled = hrefs, settled
        if isinstance(page, bytes):
            self.markup, self.length = PyBytes_AS_STRING(page), PyBytes_GET_SIZE(page)
            self.page = page
        else:
            self.page = encoded = Encoded(page, "surrogatepass")
            self.markup, self.length = encoded.data, encoded.size
        self.text = <char *>malloc(self.length + 1)
        self.room = FIRST_DEPTH
        self.stack = <Open *>malloc(self.room * sizeof(Open))
        if self.text == NULL or self.stack == NULL:
            raise MemoryError
        # Below all elements: the place above the root, where paths are empty.
        self.depth = 1
        self.stack[0].path, self.stack[0].kind, self.stack[0].told = 0, 0, False
        self.stack[0].hash = 0
        self.links, self.parts, self.declared, self.paths = [], [], [], [""]
        self.steps_room = FIRST_PATHS
        self.steps = <Step *>malloc(self.steps_room * sizeof(Step))
        if self.steps == NULL:
            raise MemoryError
        self.steps[0] = Step(0, 0, 0)

    def __dealloc__(self):
        free(self.text)
        free(self.stack)
        free(self.steps)

    cdef void say(self, const char *said, Py_ssize_t size, bint raw) noexcept nogil:
        """A text follows."""
        cdef const char *end = said + size
        cdef const char *limit = self.markup + self.length
        cdef Py_ssize_t at = self.at, count = self.size, some
        cdef char blank = self.blank
        cdef char *text = self.text
        cdef uint64_t eight, stops
        cdef uint8_t code
        if self.hidden:
            return
        while said < end:
            code = <uint8_t>said[0]
            if code == c"\n" and self.kept_lines:
                blank = c"\n"
                said += 1
                continue
            if BLANK[code]:
                if not blank:
                    blank = c" "
                said += 1
                continue
            if blank:
                if at:
                    text[at] = blank
                    at += 1
                    count += 1
                blank = 0
            if code == c"&" and not raw:
                said = self.entity(said, end, &at)
                count += 1
                continue
            text[at] = code
            at += 1
            count += (code & 0xC0) != 0x80
            said += 1
            while limit - said >= 8:
                eight = eight_from(said)
                stops = ends_of_words(eight)
                memcpy(text + at, said, 8)  # there is room: the markup is as long
                some = 8
                if stops:
                    some = trailing_zeros(stops) >> 3
                    eight &= (<uint64_t>1 << (8 * some)) - 1
                at += some
                count += some - going_on(eight)
                said += some
                if some < 8:
                    # What follows the text, < or a zero, is not plain.
                    if said[0] != c" " or not PLAIN[<uint8_t>said[1]]:
                        break
                    text[at] = c" "
                    at += 1
                    count += 1
                    said += 1
        self.at, self.size, self.blank = at, count, blank

    cdef const char *entity(
        self, const char *said, const char *end, Py_ssize_t *at
    ) noexcept nogil:
        """One character reference; returns where the text continues."""
        cdef Py_ssize_t left = end - said
        cdef char *text = self.text + at[0]
        at[0] += 1
        if left >= 5 and not memcmp(said, b"&amp;", 5):
            text[0] = c"&"
            return said + 5
        if left >= 4 and not memcmp(said, b"&lt;", 4):
            text[0] = c"<"
            return said + 4
        if left >= 4 and not memcmp(said, b"&gt;", 4):
            text[0] = c">"
            return said + 4
        if left >= 6 and not memcmp(said, b"&nbsp;", 6):
            text[0], text[1] = <char>0xC2, <char>0xA0
            at[0] += 1
            return said + 6
        if left >= 6 and not memcmp(said, b"&quot;", 6):
            text[0] = c'"'
            return said + 6
        text[0] = c"&"
        return said + 1

    cdef int open(self, Py_ssize_t start, Py_ssize_t end) except -1:
        """An element begins with what is between < and >; its kind."""
        cdef const char *space = <const char *>memchr(
            self.markup + start, c" ", end - start
        )
        cdef Py_ssize_t tag_end = end if space == NULL else space - self.markup
        cdef uint64_t hash = hash_of(self.markup + start, tag_end - start)
        cdef int kind = kind_of(hash)
        cdef Open *element
        cdef int number
        if kind & SHADOW and is_shadow(self.markup, tag_end, end):
            kind = kind ^ HIDDEN | LINE
        if kind & LINE:
            self.blank = c"\n"
        if self.depth == self.room:
            self.grow()
        element = &self.stack[self.depth]
        element.hash, element.kind, element.told = hash, kind, False
        element.tag.start, element.tag.size = start, tag_end - start
        element.whole.start, element.whole.size = start, end - start
        element.path = -1
        if kind & DECLARES:
            self.declare(element, tag_end, end)
        if kind & ASKED and not self.hidden:
            for number in range(ATTRIBUTES):
                element.given[number].size = -1
            look_at_attributes(element, self.markup, tag_end, end)
            if kind & IMAGE:
                self.see(element.given[ALT])
            else:
                self.begin(element)
        if kind & (VOID | FRAME):
            if element.told:
                self.tell_link(element)
            element.told = False
        if kind & VOID:
            return 0
        self.depth += 1
        self.hidden += (kind & HIDDEN) != 0
        self.kept_lines += (kind & KEPT_LINES) != 0
        return kind

    cdef int declare(self, Open *element, Py_ssize_t start, Py_ssize_t end) except -1:
        """A tag about the whole page, or a picture."""
        cdef dict said = {}
        cdef Span name, value, title
        cdef const char *found
        cdef bint is_title = is_name(
            self.markup + element.tag.start, element.tag.size, b"title", 5
        )
        if is_title:
            title.start = end + 1
            found = <const char *>memchr(
                self.markup + title.start, c"<", self.length - title.start
            )
            title.size = 0 if found == NULL else found - self.markup - title.start
            if not self.hidden:
                self.see(title)
        if len(self.declared) >= MOST_DECLARED:
            return 0
        while True:
            start = next_attribute(self.markup, start, end, &name, &value)
            if start < 0:
                break
            said[self.plain_string(name)] = self.string(value)
        if is_title:
            said[""] = self.string(title)
        self.declared.append((self.plain_string(element.tag), said))
        return 0

    cdef int grow(self) except -1:
        cdef Open *stack = <Open *>realloc(self.stack, 2 * self.room * sizeof(Open))
        if stack == NULL:
            raise MemoryError
        self.stack, self.room = stack, 2 * self.room
        return 0

    cdef int begin(self, Open *element) except -1:
        """Remember an element that may be a link or a part."""
        cdef int kind = element.kind
        if kind & LINKS:
            if element.given[HREF].size < 0:
                element.given[HREF] = element.given[XLINK]
            if element.given[SRC if kind & FRAME else HREF].size < 0:
                return 0
        else:
            if self.begun == MOST_PARTS:
                return 0
            if kind & NAMED and self.told(element) is None:
                return 0
            self.begun += 1
        element.told = True
        element.start, element.at = self.size, self.at
        element.picture.size = -1
        element.opened = self.rank
        element.links, element.linked = self.met, self.linked
        if not kind & LINKS:
            self.rank += 1
        return 0

    cdef object told(self, Open *element):
        """What the class and id of a region tell about it."""
        cdef bytes key
        cdef Span *given = element.given
        if given[CLASS].size < 0 and given[ID].size < 0 and given[ROLE].size < 0:
            if element.kind & NAMED:
                return None
        key = self.markup[element.whole.start : element.whole.start + element.whole.size]
        told = KNOWN_NAMES.get(key, UNKNOWN)
        if told is not UNKNOWN:
            return told
        told = told_of(
            self.string(element.tag),
            self.string(given[CLASS]),
            self.string(given[ID]),
            self.string(given[ROLE]),
        )
        if element.whole.size <= LONGEST_NAMES:
            if len(KNOWN_NAMES) >= MOST_NAMES:
                KNOWN_NAMES.clear()
            KNOWN_NAMES[key] = told
        return told

    cdef int see(self, Span name) except -1:
        """A picture with this text, which may be the only anchor of its link."""
        cdef Py_ssize_t depth
        cdef Open *element
        if name.size <= 0:
            return 0
        for depth in range(self.depth - 1, 0, -1):
            element = &self.stack[depth]
            if element.told and element.kind & LINK:
                if element.picture.size < 0:
                    if self.string(name).strip():
                        element.picture = name
                return 0
        return 0

    cdef int close(self, Py_ssize_t start, Py_ssize_t end) except -1:
        """An element of this tag ends."""
        cdef uint64_t hash = hash_of(self.markup + start, end - start)
        if self.stack[self.depth - 1].hash == hash:
            self.end()
        return 0

    cdef int end(self) except -1:
        """The innermost element ends."""
        cdef Open *element
        self.depth -= 1
        element = &self.stack[self.depth]
        self.hidden -= (element.kind & HIDDEN) != 0
        self.kept_lines -= (element.kind & KEPT_LINES) != 0
        if element.told:
            if element.kind & LINK:
                self.tell_link(element)
            else:
                self.tell_part(element)
        if element.kind & LINE:
            self.blank = c"\n"
        return 0

    cdef inline Py_ssize_t start_of(self, Open *element) noexcept nogil:
        """The place of the first word of an element that ends here."""
        cdef char first
        if element.at < self.at:
            first = self.text[element.at]
            return element.start + (first == c" " or first == c"\n")
        return element.start

    cdef int tell_link(self, Open *element) except -1:
        """A link has ended."""
        cdef Py_ssize_t start = self.start_of(element)
        cdef str name = ""
        self.met += 1
        self.linked += self.size - start
        if len(self.links) == MOST_LINKS:
            return 0
        if self.hrefs is not None and self.is_settled(element):
            return 0
        if start == self.size:
            if element.picture.size > 0:
                name = self.string(element.picture).strip()
            elif element.given[ALT].size > 0:
                name = self.string(element.given[ALT]).strip()
            else:
                name = self.string(element.given[TITLE]).strip()
        self.links.append(
            Passage(
                self.string(element.given[SRC if element.kind & FRAME else HREF]),
                self.string(element.given[REL]),
                name,
                self.path_of(element),
                start,
                self.size,
                self.rank,
            )
        )
        return 0

    cdef bint is_settled(self, Open *element) except -1:
        """Whether a link is settled; then nothing but its fingerprint is told."""
        cdef Span href = element.given[SRC if element.kind & FRAME else HREF]
        cdef Href *found
        if element.given[REL].size > 0:
            return False
        found = self.hrefs.find(self.markup + href.start, href.size)
        if found == NULL or self.settled[
            found.fingerprint & (self.settled.shape[0] - 1)
        ] != found.fingerprint:
            return False
        self.links.append(found.fingerprint)
        return True

    cdef int tell_part(self, Open *element) except -1:
        """A heading or region has ended."""
        cdef int kind = element.kind
        cdef int level = 0
        if kind & HEADING:
            level = self.markup[element.tag.start + 1] - c"0"
        self.parts.append(
            Part(
                level,
                self.told(element) if kind & REGIONS else None,
                (kind & LIST) != 0,
                self.start_of(element),
                self.size,
                element.opened,
                self.rank,
                self.met - element.links,
                self.linked - element.linked,
            )
        )
        self.rank += 1
        return 0

    cdef str path_of(self, Open *element):
        """The path of a link; those of the elements that it is in are known from now
        on."""
        cdef Py_ssize_t depth
        if len(self.paths) > MOST_PATHS:
            self.paths, self.steps[0].below = [""], 0
            for depth in range(1, self.depth):
                self.stack[depth].path = -1
        depth = self.depth - 1
        while self.stack[depth].path < 0:
            depth -= 1
        cdef Py_ssize_t above = self.stack[depth].path
        while depth < self.depth - 1:
            depth += 1
            above = self.step(above, &self.stack[depth])
            self.stack[depth].path = above
        return self.paths[self.step(above, element)]

    cdef Py_ssize_t step(self, Py_ssize_t above, Open *element) except -1:
        """The number of the path of an element, given that of the one above."""
        cdef Py_ssize_t number = self.steps[above].below
        while number:
            if self.steps[number].hash == element.hash:
                return number
            number = self.steps[number].beside
        cdef str tag = self.plain_string(element.tag)
        cdef str path = self.paths[above]
        cdef Step *steps
        if path:
            path = f"{path}/{tag[:LONGEST_STEP]}"[-LONGEST_PATH:]
        else:
            path = "body" if tag == "body" else ""
        number = len(self.paths)
        if number == self.steps_room:
            steps = <Step *>realloc(self.steps, 2 * number * sizeof(Step))
            if steps == NULL:
                raise MemoryError
            self.steps, self.steps_room = steps, 2 * number
        self.paths.append(path)
        self.steps[number] = Step(element.hash, 0, self.steps[above].below)
        self.steps[above].below = number
        return number

    cdef str plain_string(self, Span span):
        """A piece of the markup."""
        return PyUnicode_DecodeUTF8(
            self.markup + span.start, span.size, b"surrogatepass"
        )

    cdef str string(self, Span span):
        """A piece of the markup, unescaped."""
        if span.size <= 0:
            return ""
        cdef str found = self.plain_string(span)
        if memchr(self.markup + span.start, c"&", span.size) != NULL:
            return unescaped(found)
        return found

    cdef object finish(self):
        """Everything that was found."""
        while self.depth > 1:
            self.end()
        text = PyUnicode_DecodeUTF8(self.text, self.at, b"surrogatepass")
        return plain.Walk(text, self.links, self.parts, self.declared)


def walk(page not None, Hrefs hrefs=None, settled=None):
    cdef Walker walker = Walker(page, hrefs, settled)
    cdef const char *markup = walker.markup
    cdef Py_ssize_t size = walker.length, place = 0, tag, end, name
    cdef const char *found
    cdef int kind
    while place < size:
        found = <const char *>memchr(markup + place, c"<", size - place)
        tag = size if found == NULL else found - markup
        if tag > place:
            walker.say(markup + place, tag - place, False)
        if found == NULL:
            break
        if size - tag >= 4 and not memcmp(found, b"<!--", 4):
            found = find(found + 4, markup + size, b"-->", 3)
            end = size if found == NULL else found - markup + 2
        else:
            found = <const char *>memchr(found, c">", size - tag)
            end = size if found == NULL else found - markup
        place = end + 1
        if found == NULL or markup[tag + 1] == c"!" or markup[tag + 1] == c"?":
            continue
        if markup[tag + 1] == c"/":
            walker.close(tag + 2, end)
            continue
        kind = walker.open(tag + 1, end)
        if kind & RAW:
            name = walker.stack[walker.depth - 1].tag.size
            found = end_of_raw(markup + place, size - place, markup + tag + 1, name)
            end = size if found == NULL else found - markup
            walker.say(markup + place, end - place, True)
            place = end
    return walker.finish()


cdef const char *end_of_raw(
    const char *text, Py_ssize_t size, const char *name, Py_ssize_t length
) noexcept nogil:
    """The end tag of this name that ends a raw text; NULL if there is none."""
    cdef const char *end = text + size
    cdef const char *found
    cdef const char *last = NULL
    cdef bint is_plain = is_name(name, length, b"plaintext", 9)
    cdef bint is_script = is_name(name, length, b"script", 6)
    cdef int level = 0  # in a script, 1: after <!--; 2: after <script, too
    while True:
        found = <const char *>memchr(text, c"<", end - text)
        if found == NULL:
            return last
        if level and find(text, found, b"-->", 3):
            level = 0
        text = found + 1
        if text < end and text[0] == c"/":
            if level == 2:
                if is_script_tag(text + 1, end):
                    level = 1
            elif (
                end - text - 2 >= length
                and not memcmp(text + 1, name, length)
                and text[length + 1] == c">"
            ):
                if not is_plain:
                    return found
                last = found
        elif is_script:
            if end - text >= 3 and not memcmp(text, b"!--", 3):
                level = max(level, 1)
            elif level and is_script_tag(text, end):
                level = 2


cdef bint is_script_tag(const char *text, const char *end) noexcept nogil:
    return (
        end - text >= 7
        and is_word(text, b"script", 6)
        and (BLANK[<uint8_t>text[6]] or text[6] == c"/" or text[6] == c">")
    )


def find_links(
    str line not None, list passages not None, list targets not None, str url,
    at_rank, Py_ssize_t context, const int64_t[::1] settled=None, Hrefs hrefs=None,
):
    cdef dict numbers = {}  # of those that have no anchor yet; FOUND for the others
    cdef list links = [], spots = [], known_already = []
    cdef int64_t mask = 0, print_
    if settled is not None:
        mask = settled.shape[0] - 1
    cdef Py_ssize_t number, start, end, first, last, told = 0
    cdef Py_ssize_t size = PyUnicode_GET_LENGTH(line)
    cdef str target, anchor, before, after, path
    cdef object own = fingerprint_of(url) if hrefs is not None else None
    if hrefs is None and len(passages) != len(targets):
        raise ValueError("every link leads somewhere")
    for passage in passages:
        if type(passage) is int:  # settled; even if it was met before, with a `rel`
            if passage not in numbers and passage != own:
                numbers[passage] = FOUND
                known_already.append(passage)
            continue
        target, fingerprint = targets[told]
        told += 1
        if not target or target == url:
            continue
        known = numbers.get(fingerprint)
        if known is FOUND:
            continue
        if mask and known is None:
            print_ = fingerprint
            if settled[print_ & mask] == print_ and not passage.rel:
                numbers[fingerprint] = FOUND
                known_already.append(fingerprint)
                if hrefs is not None:
                    hrefs.put(passage.href, print_)
                continue
        start, end = passage.start, passage.end
        if not 0 <= start <= end <= size:
            raise ValueError("a link stands outside of the text")
        if start < end:
            anchor = PyUnicode_Substring(line, start, min(end, start + MUCH))
        else:
            anchor = clean(passage.name)
        if known is None:
            number = len(links)
            links.append(None)
            if context:
                spots.append(None)
        elif anchor:
            number = known
        else:
            continue
        anchor = tidy(anchor)
        numbers[fingerprint] = FOUND if anchor else number
        before, after, path = "", "", ""
        if context:
            first, last = reach_of(line, start, end, context)
            before, after = stripped(line, first, start), stripped(line, end, last)
            path = passage.path
            spots[number] = first, start, end, last
        links[number] = Link(
            target,
            fingerprint,
            anchor,
            before,
            after,
            passage.rel,
            at_rank[passage.rank] if at_rank else 0,
            path,
        )
        if len(links) == MAX_LINKS:
            break
    return links, spots, known_already


cdef (Py_ssize_t, Py_ssize_t) reach_of(
    str line, Py_ssize_t start, Py_ssize_t end, Py_ssize_t context
):
    """Where the words around a link begin and end."""
    cdef Py_ssize_t size = PyUnicode_GET_LENGTH(line), space
    cdef Py_ssize_t first = max(start - context, 0), last = min(end + context, size)
    if first > 0:
        space = PyUnicode_FindChar(line, c" ", first, start, 1)
        if space >= 0:
            first = space + 1
    if last < size:
        space = PyUnicode_FindChar(line, c" ", end, last, -1)
        if space > end:
            last = space
    return first, last


cdef str tidy(str anchor):
    """An anchor, safe to keep."""
    if PyUnicode_GET_LENGTH(anchor) > MAX_ANCHOR or not is_printable(anchor):
        return clean(anchor, MAX_ANCHOR)
    return anchor


cdef bint is_printable(str text):
    """As Python's own method, but faster for ASCII."""
    cdef const uint8_t *data
    cdef Py_ssize_t at
    if not PyUnicode_IS_ASCII(text):
        return text.isprintable()
    data = <const uint8_t *>PyUnicode_DATA(text)
    for at in range(PyUnicode_GET_LENGTH(text)):
        if <uint8_t>(data[at] - 32) > 94:
            return False
    return True


cdef str stripped(str line, Py_ssize_t start, Py_ssize_t end):
    """A part of a line without the space at its ends."""
    while start < end and Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(line, start)):
        start += 1
    while start < end and Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(line, end - 1)):
        end -= 1
    return PyUnicode_Substring(line, start, end)
