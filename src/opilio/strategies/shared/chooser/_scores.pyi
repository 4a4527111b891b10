from opilio.strategies.shared.chooser import plain_scores

EDITION: int

raw = plain_scores.raw
moved = plain_scores.moved
add_words = plain_scores.add_words
weigh = plain_scores.weigh
tell = plain_scores.tell
