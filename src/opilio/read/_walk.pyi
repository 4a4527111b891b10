from collections.abc import Sequence

from opilio.read.parsed_markup import Spot
from opilio.read.plain_links import Places, Target
from opilio.read.plain_walk import Hrefs as Hrefs
from opilio.read.plain_walk import Passage, Walk
from opilio.records import Fingerprint, Link

EDITION: int

def walk(
    markup: str | bytes, hrefs: Hrefs | None = None, settled: Places | None = None
) -> Walk: ...
def find_links(
    line: str,
    passages: Sequence[Passage | Fingerprint],
    targets: Sequence[Target],
    url: str,
    at_rank: Sequence[int],
    context: int,
    settled: Places | None = None,
    hrefs: Hrefs | None = None,
) -> tuple[list[Link], list[Spot], list[Fingerprint]]: ...
