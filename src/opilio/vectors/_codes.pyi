from opilio.vectors import plain_codes

EDITION: int

encode = plain_codes.encode
decode = plain_codes.decode
dots = plain_codes.dots
mix = plain_codes.mix
