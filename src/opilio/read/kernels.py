"""The arithmetic of reading: what is done with every word of every page.

Compiled where a C compiler was at hand when Opilio was installed, else in numpy, which
takes longer; the answers are the same. `plain_kernels` says what each of them does.
"""

from __future__ import annotations

from opilio.read.plain_kernels import EDITION

try:
    from opilio.read import _kernels as chosen

    if chosen.EDITION != EDITION:
        raise ImportError("they were compiled for another edition of the package")
except (ImportError, AttributeError):
    from opilio.read import plain_kernels as chosen  # type: ignore[no-redef]

__all__ = [
    "COMPILED",
    "characters",
    "count_blocks",
    "count_parts",
    "count_text",
    "hits",
    "learn",
    "look_up",
    "phrases",
    "split",
]

COMPILED = chosen.__name__.endswith("._kernels")

characters = chosen.characters
count_blocks = chosen.count_blocks
count_parts = chosen.count_parts
count_text = chosen.count_text
hits = chosen.hits
learn = chosen.learn
look_up = chosen.look_up
phrases = chosen.phrases
split = chosen.split
