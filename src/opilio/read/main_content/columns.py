"""Names the numbers that describe a block of a page, in their order."""

from __future__ import annotations

from opilio.read.main_content.line_features import CUES
from opilio.read.main_content.names import KINDS

LEVELS = 5  # boxes around a block that are described
BESIDE = (-3, -2, -1, 1, 2, 3)
INLINE = 38  # kinds that elements within a line may have

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
ABOUT = ("article", "product", "thread", "list", "home", "slug", "page")

COLUMNS = (
    *OWN,
    *(f"tag_{tag}" for tag in OWN_TAGS),
    *(f"says_{cue}" for cue in CUES),
    *(f"beside{step}_{name}" for step in BESIDE for name in SHARED),
    *(f"around{level}_{name}" for level in range(LEVELS) for name in AROUND),
    *(f"in_{kind}" for kind in KINDS),
    *(f"inline_{kind}" for kind in KINDS[:INLINE]),
    *(f"page_{name}" for name in PAGE),
    *(f"about_{name}" for name in ABOUT),
)
