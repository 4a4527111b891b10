from opilio.strategies.shared.chooser import plain_rows

EDITION: int

find = plain_rows.find
insert = plain_rows.insert
link_rows = plain_rows.link_rows
raw = plain_rows.raw
add_words = plain_rows.add_words
shared = plain_rows.shared
begin = plain_rows.begin
join = plain_rows.join
