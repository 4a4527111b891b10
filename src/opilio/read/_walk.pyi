from collections.abc import Iterable, Sequence

from opilio.read.found import Spot
from opilio.read.plain_walk import Chosen, Walk
from opilio.types import Link

EDITION: int

def walk(markup: str | bytes) -> Walk: ...
def in_context(
    line: str, chosen: Iterable[Chosen], at_rank: Sequence[int]
) -> tuple[list[Link], list[Spot]]: ...
