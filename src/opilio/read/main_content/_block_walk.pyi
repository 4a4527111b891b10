from opilio.read.main_content.outline import PageOutline

EDITION: int

def walk(markup: str, *, hidden: bool = False) -> PageOutline: ...
