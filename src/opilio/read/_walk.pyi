from opilio.read.plain_walk import Walk

EDITION: int

def walk(markup: str) -> Walk: ...
