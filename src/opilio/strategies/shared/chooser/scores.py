"""Features of waiting links, and their promises: compiled, or else in numpy."""

from opilio.strategies.shared.chooser import plain_scores

try:
    from opilio.strategies.shared.chooser import _scores

    if _scores.EDITION != plain_scores.EDITION:
        raise ImportError("it was compiled for another version of the package")
except (ImportError, AttributeError):
    _scores = plain_scores  # type: ignore[misc]

raw = _scores.raw
add_words = _scores.add_words
weigh = _scores.weigh
tell = _scores.tell
