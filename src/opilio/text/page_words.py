"""Loops over the words of a page: compiled, or else in numpy."""

from opilio.text import plain_page_words

try:
    from opilio.text import _page_words

    if _page_words.EDITION != plain_page_words.EDITION:
        raise ImportError("it was compiled for another version of the package")
except (ImportError, AttributeError):
    _page_words = plain_page_words  # type: ignore[misc]

word_weights = _page_words.word_weights
signed_places = _page_words.signed_places
shares_of_words = _page_words.shares_of_words
