"""Static word vectors, which show which words have similar meanings.

files.py       finds a table: wordllama's, or one that `opilio vectors build` made
tokenizer.py   splits words into the pieces that a table has vectors for
words.py       vectors of words and texts
codes.py       short codes for vectors that are kept in large numbers
"""
