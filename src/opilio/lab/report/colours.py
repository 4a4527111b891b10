"""The colours of a report, and the style of its charts in dark mode.

Charts are drawn in the light colours. Each has a meaning of its own and so a value of
its own, by which a style sheet finds it again and gives it another value on dark paper.
Lines use the palette of Okabe and Ito, its yellow replaced, which colour-blind people
can tell apart; names beside the lines do not rely on colour.
"""

from __future__ import annotations

from typing import NamedTuple


class Colour(NamedTuple):
    """A colour on white and on dark paper."""

    light: str
    dark: str


PAPER = Colour("#fffffe", "#14171a")
INK = Colour("#1b1f23", "#e8eaed")
QUIET = Colour("#5d666f", "#9aa4ae")  # secondary text
GRID = Colour("#e4e7ea", "#2b3137")
ORACLE = Colour("#30363c", "#d5d9dd")

LINES = (  # of the best strategies, in this order
    Colour("#0072b2", "#4ba3e3"),
    Colour("#d55e00", "#f0823a"),
    Colour("#00916a", "#23b88c"),
    Colour("#b8558f", "#dd86b6"),
    Colour("#8a6d00", "#cfae2f"),
    Colour("#3796cd", "#9fd4f5"),
    Colour("#882255", "#c8608f"),
    Colour("#5a4fcf", "#9a91f2"),
)
BREADTH = Colour("#6b737b", "#8d969f")
CHANCE = Colour("#8b939b", "#6b747c")

HEAT = (  # shares of the oracle, a tenth each
    Colour("#f4f7fa", "#1b2228"),
    Colour("#e6eff6", "#1c2b36"),
    Colour("#d5e5f0", "#1d3546"),
    Colour("#c0d9ea", "#1e4058"),
    Colour("#a6cae2", "#1f4c6b"),
    Colour("#86b8d8", "#23597f"),
    Colour("#63a2cb", "#2d6892"),
    Colour("#3079ab", "#4786b3"),
    Colour("#1f689c", "#6ba5cd"),
    Colour("#0b5488", "#98c6e6"),
)
ON_PALE = Colour("#1c2024", "#dfe5ea")  # text on the lower shares
ON_STRONG = Colour("#fdfefe", "#0d1114")  # and on the higher ones
STRONG = 7  # the first of the higher ones

COLOURS = {
    "paper": PAPER,
    "ink": INK,
    "quiet": QUIET,
    "grid": GRID,
    "oracle": ORACLE,
    "breadth": BREADTH,
    "chance": CHANCE,
    "on-pale": ON_PALE,
    "on-strong": ON_STRONG,
    **{f"line-{place}": colour for place, colour in enumerate(LINES)},
    **{f"heat-{place}": colour for place, colour in enumerate(HEAT)},
}


def variables() -> str:
    """The colours as CSS variables that follow the colour scheme."""
    plain = "".join(f"--{name}:{c.light};" for name, c in COLOURS.items())
    both = "".join(
        f"--{name}:light-dark({c.light},{c.dark});" for name, c in COLOURS.items()
    )
    # A browser that does not know light-dark() shows the light page.
    known = "@supports (color:light-dark(red,red))"
    return f":root{{{plain}}}\n{known}{{:root{{{both}}}}}\n"


def variable_charts() -> str:
    """A style that gives the charts within a page the colours of its variables."""
    return "".join(
        f'svg [{place}="{colour.light}"]{{{place}:var(--{name})}}'
        for name, colour in COLOURS.items()
        for place in ("fill", "stroke")
    )


def dark_chart() -> str:
    """A style that follows dark mode in a chart that is a file of its own."""
    rules = "".join(
        f'[{place}="{colour.light}"]{{{place}:{colour.dark}}}'
        for colour in COLOURS.values()
        for place in ("fill", "stroke")
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"
