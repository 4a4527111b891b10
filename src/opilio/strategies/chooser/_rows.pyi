from opilio.strategies.chooser import plain_rows

EDITION: int

find = plain_rows.find
insert = plain_rows.insert
link_rows = plain_rows.link_rows
raw = plain_rows.raw
