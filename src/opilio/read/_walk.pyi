from collections.abc import Sequence

from opilio.read.parsed_markup import Spot
from opilio.read.plain_links import Target
from opilio.read.plain_walk import Passage, Walk
from opilio.records import Link

EDITION: int

def walk(markup: str | bytes) -> Walk: ...
def find_links(
    line: str,
    passages: Sequence[Passage],
    targets: Sequence[Target],
    url: str,
    at_rank: Sequence[int],
    context: bool,
) -> tuple[list[Link], list[Spot]]: ...
