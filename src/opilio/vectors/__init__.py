"""Static word vectors, which show which words have similar meanings.

files.py       finds a table: wordllama's, or one that `opilio vectors build` made
tokenizer.py   splits words into the pieces that a table has vectors for
words.py       vectors of words and texts
codes.py       short codes for vectors that are kept in large numbers
"""

from opilio.vectors.files import AUTO, NONE, WORDLLAMA, installed, resolve
from opilio.vectors.words import DIMENSIONS, Vector, Vectors, load_vectors

__all__ = [
    "AUTO",
    "DIMENSIONS",
    "NONE",
    "WORDLLAMA",
    "Vector",
    "Vectors",
    "installed",
    "load_vectors",
    "resolve",
]
