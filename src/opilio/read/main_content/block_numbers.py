"""The inner loops of finding main texts, which run for every block: compiled or plain.

They are compiled if there was a C compiler when Opilio was installed.
`plain_block_numbers` documents each function.
"""

from __future__ import annotations

from opilio.read.main_content import plain_block_numbers

try:
    from opilio.read.main_content import _block_numbers

    if _block_numbers.EDITION != plain_block_numbers.EDITION:
        raise ImportError("they were compiled for another version of the package")
except (ImportError, AttributeError):
    _block_numbers = plain_block_numbers  # type: ignore[misc]

__all__ = ["kind_rows", "numbers_of", "odds", "own_rows", "side_rows"]

kind_rows = _block_numbers.kind_rows
numbers_of = _block_numbers.numbers_of
odds = _block_numbers.odds
own_rows = _block_numbers.own_rows
side_rows = _block_numbers.side_rows
