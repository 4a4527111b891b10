from opilio.strategies.shared.chooser import plain_rows

EDITION: int

find = plain_rows.find
insert = plain_rows.insert
link_rows = plain_rows.link_rows
raw = plain_rows.raw
add_words = plain_rows.add_words
weigh = plain_rows.weigh
tell = plain_rows.tell
enter = plain_rows.enter
mix = plain_rows.mix
