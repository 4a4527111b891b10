from collections.abc import Sequence

from opilio.vectors import plain_merges

EDITION: int

class Merges(plain_merges.Merges): ...

def sums(
    matrix: plain_merges.Matrix, pieces: Sequence[Sequence[int]]
) -> plain_merges.Vector: ...
