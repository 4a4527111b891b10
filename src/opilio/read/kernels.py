"""What is done with every tag and every word of every page.

Compiled where a C compiler was at hand when Opilio was installed, else in Python and
numpy, which takes longer; the answers are the same. `plain_kernels`, `plain_tidy` and
`plain_walk` say what each of them does.
"""

from __future__ import annotations

from opilio.read import plain_kernels, plain_tidy, plain_walk

try:
    from opilio.read import _kernels, _tidy, _walk

    if (_kernels.EDITION, _tidy.EDITION, _walk.EDITION) != (
        plain_kernels.EDITION,
        plain_tidy.EDITION,
        plain_walk.EDITION,
    ):
        raise ImportError("they were compiled for another edition of the package")
except (ImportError, AttributeError):
    _kernels, _tidy, _walk = plain_kernels, plain_tidy, plain_walk  # type: ignore[misc]

__all__ = [
    "COMPILED",
    "Text",
    "blend",
    "expand",
    "find_links",
    "find_rows",
    "learn",
    "link_stretches",
    "link_words",
    "look_up",
    "put_rows",
    "tidied",
    "walk",
]

COMPILED = _kernels.__name__.endswith("._kernels")

Text = _kernels.Text
blend = _kernels.blend
expand = _kernels.expand
find_rows = _kernels.find_rows
learn = _kernels.learn
link_stretches = _kernels.link_stretches
link_words = _kernels.link_words
look_up = _kernels.look_up
put_rows = _kernels.put_rows
find_links = _walk.find_links
tidied = _tidy.tidied
walk = _walk.walk
