# What the standard says about each tag; a part of `_tidy.pyx`.

cdef enum:
    ROOM = 1024  # places for tags

# What may be special about an element, in the words of the standard:
cdef enum:
    SPECIAL = 1 << 0
    SCOPE = 1 << 1  # an end tag has no effect beyond it
    LIST_SCOPE = 1 << 2
    IMPLIED = 1 << 3  # its end may be left out
    CLOSES_P = 1 << 4  # ends a paragraph that it begins in
    BLOCK = 1 << 5  # its end tag ends what was left open in it
    FORMATTING = 1 << 6
    MARKER = 1 << 7  # formatting does not reach out of it
    VOID = 1 << 8
    DROPPED = 1 << 9  # has text that is not displayed
    FOR_HEAD = 1 << 10
    ALL_ATTRIBUTES = 1 << 11  # each of them may matter
    BREAKS_OUT = 1 << 12  # of drawings and formulas
    UNSURE = 1 << 13  # it is for the parser
    PART_OF_TABLE = 1 << 14
    UNSURE_IN_DRAWING = 1 << 15

# And which one it is:
cdef enum:
    OTHER, HTML, HEAD, BODY, P, A, LI, DEFINITION, HEADING, PRE, TABLE, ROWS, ROW, CELL
    CAPTION, COLUMNS, COLUMN, SELECT, OPTION, OPTIONS, FORM, BUTTON, NOBR, TITLE_TAG, BREAK
    DRAWING, TEXT_ONLY, SCRIPT, IFRAME, INPUT, KEEPS_LIST_OPEN

cdef struct Known:
    uint64_t hash
    int traits
    int which

cdef Known[ROOM] KNOWN

TRAITS = {
    SPECIAL: """
        address applet area article aside base basefont bgsound blockquote body br button
        caption center col colgroup dd details dir div dl dt embed fieldset figcaption
        figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html
        iframe img input keygen li link listing main marquee menu meta nav noembed
        noframes noscript object ol p param plaintext pre script search section select
        source style summary table tbody td template textarea tfoot th thead title tr
        track ul wbr xmp
    """,
    SCOPE: "applet caption html table td th marquee object template",
    LIST_SCOPE: "ol ul",
    IMPLIED: "dd dt li optgroup option p",
    CLOSES_P: """
        address article aside blockquote center dd details dialog dir div dl dt fieldset
        figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main
        menu nav ol p pre search section summary ul
    """,
    BLOCK: """
        address article aside blockquote button center details dialog dir div dl fieldset
        figcaption figure footer header hgroup listing main menu nav object ol pre search
        section summary ul
    """,
    FORMATTING: "a b big code em font i nobr s small strike strong tt u",
    MARKER: "caption object td th",
    VOID: """
        area base basefont bgsound br col embed hr img input link meta param source track
        wbr
    """,
    DROPPED: "noembed noframes noscript script style textarea",
    FOR_HEAD: "base basefont bgsound link meta noframes noscript script style title",
    ALL_ATTRIBUTES: "base html link meta title",
    BREAKS_OUT: """
        b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6
        head hr i img li listing menu meta nobr ol p pre ruby s small span strong strike
        sub sup table tt u ul var
    """,
    UNSURE: """
        applet command frame frameset image isindex keygen marquee menuitem plaintext rb rp
        rt rtc template xmp
    """,
    PART_OF_TABLE: "caption col colgroup tbody td tfoot th thead tr",
    UNSURE_IN_DRAWING: """
        a annotation-xml desc foreignobject iframe malignmark math mglyph noembed noframes
        noscript script svg textarea
    """,
}
NAMES = {
    HTML: "html", HEAD: "head", BODY: "body", P: "p", A: "a", LI: "li",
    DEFINITION: "dd dt", HEADING: "h1 h2 h3 h4 h5 h6", PRE: "pre listing",
    TABLE: "table", ROWS: "tbody tfoot thead", ROW: "tr", CELL: "td th",
    CAPTION: "caption", COLUMNS: "colgroup", COLUMN: "col", SELECT: "select",
    OPTION: "option", OPTIONS: "optgroup", FORM: "form", BUTTON: "button", NOBR: "nobr",
    TITLE_TAG: "title", BREAK: "br", DRAWING: "svg math", TEXT_ONLY: "mi mo mn ms mtext",
    SCRIPT: "script", IFRAME: "iframe", INPUT: "input", KEEPS_LIST_OPEN: "address div",
}  # fmt: skip


cdef Known *place_of(uint64_t hash) noexcept nogil:
    """The place of a tag in the table, or where it would be."""
    cdef uint64_t place = (hash >> 20) % ROOM
    while KNOWN[place].hash and KNOWN[place].hash != hash:
        place = (place + 1) % ROOM
    return &KNOWN[place]


def _learn_tags():
    cdef Known *known
    cdef bytes name
    for table, is_trait in ((TRAITS, True), (NAMES, False)):
        for what, names in table.items():
            for tag in names.split():
                name = tag.encode()
                known = place_of(hash_of(name, len(name)))
                known.hash = hash_of(name, len(name))
                if is_trait:
                    known.traits |= what
                else:
                    known.which = what


_learn_tags()
