"""Loops over the links of a page and those that wait: compiled, or else in numpy.

`plain_rows.py` describes the loops over rows, `plain_scores.py` those over features.
"""

from opilio.strategies.shared.chooser import plain_rows

SCORES_EDITION = 6  # what was compiled is used only if it is of the same edition
OTHER = "it was compiled for another version of the package"

try:
    from opilio.strategies.shared.chooser import _rows

    if _rows.EDITION != plain_rows.EDITION:
        raise ImportError(OTHER)
except (ImportError, AttributeError):
    _rows = plain_rows  # type: ignore[misc]

try:
    from opilio.strategies.shared.chooser import _scores

    if _scores.EDITION != SCORES_EDITION:
        raise ImportError(OTHER)
except (ImportError, AttributeError):
    from opilio.strategies.shared.chooser import (  # type: ignore[no-redef]
        plain_scores as _scores,
    )

find = _rows.find
insert = _rows.insert
link_rows = _rows.link_rows
distinct = _rows.distinct
sort_out = _rows.sort_out
enter = _rows.enter

raw = _scores.raw
moved = _scores.moved
add_words = _scores.add_words
weigh = _scores.weigh
tell = _scores.tell
