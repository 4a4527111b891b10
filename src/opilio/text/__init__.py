"""Functions for words, URLs and the encoding of bodies, without side effects."""
