"""The parts of the default strategy, `strategies/opilio.py`.

visits.py       the note on a visit, from which everything can be learnt again
waiting.py      the evidence of links that wait, in columns
places.py       finds the slot of a link by its fingerprint
pool.py         the best links that wait
loops.py        loops over links, features and promises: compiled (_rows.pyx,
                _scores.pyx), or else in numpy (plain_rows.py, plain_scores.py)
groups.py       how well hosts, sections and pages did so far
lessons.py      what is learnt from visited links: vectors, words, corrected weights
features.py     the numbers by which links are compared, and their scales
relevant_left.py  how many relevant pages are still to be found
"""
