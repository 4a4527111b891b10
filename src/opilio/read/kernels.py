"""The inner loops of reading, which run for every tag and word: compiled or plain.

They are compiled if there was a C compiler when Opilio was installed; otherwise they
run in Python and numpy, slower but with the same results. `plain_kernels`, `plain_tidy`
and `plain_walk` document each function.
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
        raise ImportError("they were compiled for another version of the package")
except (ImportError, AttributeError):
    _kernels, _tidy, _walk = plain_kernels, plain_tidy, plain_walk  # type: ignore[misc]

__all__ = [
    "COMPILED",
    "Hrefs",
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

Hrefs = _walk.Hrefs
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
