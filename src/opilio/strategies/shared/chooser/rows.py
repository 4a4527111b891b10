"""Loops over the rows of links, of a page and of those that wait: compiled, or else in
numpy."""

from opilio.strategies.shared.chooser import plain_rows

try:
    from opilio.strategies.shared.chooser import _rows

    if _rows.EDITION != plain_rows.EDITION:
        raise ImportError("it was compiled for another version of the package")
except (ImportError, AttributeError):
    _rows = plain_rows  # type: ignore[misc]

find = _rows.find
insert = _rows.insert
link_rows = _rows.link_rows
distinct = _rows.distinct
sort_out = _rows.sort_out
enter = _rows.enter
