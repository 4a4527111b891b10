"""How each HTML tag affects the visible text, links and regions of a page.

Other tags have no effect: their content is ordinary text.
"""

from __future__ import annotations

# The properties of an element:
LINE = 1  # begins and ends a line
VOID = 2  # has neither content nor an end
HIDDEN = 4  # has invisible content
RAW = 8  # has text and no elements, even if it looks like markup
KEPT_LINES = 16  # keeps its line breaks
HEADING = 32
SURE = 64  # is a region: navigation or a footer
LIST = 128  # may be a menu
NAMED = 256  # may be a region by its class, id or role
LINK = 512  # leads elsewhere by its href
FRAME = 1024  # leads elsewhere by its src
IMAGE = 2048
DECLARES = 4096  # is about the whole page
SHADOW = 8192  # is seen if its shadowrootmode says so


def _tags() -> dict[str, int]:
    kinds = {
        LINE: """
            address article aside blockquote body br button caption center dd details
            dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2
            h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol optgroup
            option p plaintext pre search section summary table td th tr ul xmp
        """,
        VOID: """
            area base basefont bgsound br col embed frame hr img input keygen link meta
            param source track wbr
        """,
        HIDDEN: """
            annotation annotation-xml audio canvas datalist desc head iframe metadata
            meter noembed noframes noscript progress rp script select style template
            textarea title video
        """,
        RAW: "iframe noembed noframes noscript plaintext script style xmp",
        KEPT_LINES: "listing plaintext pre xmp",
        HEADING: "h1 h2 h3 h4 h5 h6",
        SURE: "aside footer nav",
        LIST: "dir menu ol ul",
        NAMED: "div header section table td",
        LINK: "a area",
        FRAME: "frame iframe",
        IMAGE: "img",
        DECLARES: "base html link meta title",
        SHADOW: "template",
    }
    found: dict[str, int] = {}
    for kind, names in kinds.items():
        for name in names.split():
            found[name] = found.get(name, 0) | kind
    return found


TAGS = _tags()
"""Tag -> its properties."""
