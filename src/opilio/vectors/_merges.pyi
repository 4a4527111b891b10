from opilio.vectors import plain_merges

EDITION: int

class Merges(plain_merges.Merges): ...
