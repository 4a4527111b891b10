from opilio.strategies.shared.chooser import plain_rows

EDITION: int

find = plain_rows.find
insert = plain_rows.insert
link_rows = plain_rows.link_rows
distinct = plain_rows.distinct
sort_out = plain_rows.sort_out
enter = plain_rows.enter
