"""Features of waiting links, and their promises: compiled, or else in numpy."""

EDITION = 3  # what was compiled is used only if it is of the same edition

try:
    from opilio.strategies.shared.chooser import _scores

    if _scores.EDITION != EDITION:
        raise ImportError("it was compiled for another version of the package")
except (ImportError, AttributeError):
    from opilio.strategies.shared.chooser import (  # type: ignore[no-redef]
        plain_scores as _scores,
    )

raw = _scores.raw
add_words = _scores.add_words
weigh = _scores.weigh
tell = _scores.tell
