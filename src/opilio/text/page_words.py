"""Loops over the words of a page: compiled, or else in numpy."""

EDITION = 1  # what was compiled is used only if it is of the same edition

try:
    from opilio.text import _page_words

    if _page_words.EDITION != EDITION:
        raise ImportError("it was compiled for another version of the package")
except (ImportError, AttributeError):
    from opilio.text import plain_page_words as _page_words  # type: ignore[no-redef]

word_weights = _page_words.word_weights
signed_places = _page_words.signed_places
shares_of_words = _page_words.shares_of_words
