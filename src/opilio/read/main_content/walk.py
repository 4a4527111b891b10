"""Cuts the markup of a page into blocks of text, and notes the elements around them.

The markup was serialised by a parser: every element is closed, and attributes are
written in one way. One walk from the first tag to the last finds the blocks. It is
compiled if there was a C compiler when Opilio was installed.
"""

from __future__ import annotations

from opilio.read.main_content import plain_block_walk

try:
    from opilio.read.main_content import _block_walk

    if _block_walk.EDITION != plain_block_walk.EDITION:
        raise ImportError("it was compiled for another version of the package")
except (ImportError, AttributeError):
    _block_walk = plain_block_walk  # type: ignore[misc]

__all__ = ["walk"]

walk = _block_walk.walk
