"""Pages as the reader would hand them over, made by hand for the tests of judges."""

from array import array
from collections.abc import Mapping, Sequence

from opilio.records import Block, BlockKind, Page


def page(
    terms: Mapping[str, int] | None = None,
    norm: float = 0.0,
    *,
    language: str = "en",
    blocks: Sequence[Block] = (),
    counts: Sequence[int] = (),
) -> Page:
    """A page with these topic terms; `counts` are those of all its stems."""
    terms = terms or {}
    return Page(
        url="http://a.test/",
        title="",
        language=language,
        charset="utf-8",
        words=sum(terms.values()),
        terms=terms,
        norm=norm,
        simhash=0,
        links=(),
        blocks=blocks,
        counts=array("H", counts).tobytes(),
    )


def block(
    terms: Mapping[str, int],
    norm: float,
    heading: str = "",
    kind: BlockKind = BlockKind.TEXT,
) -> Block:
    """A block with these topic terms."""
    return Block(
        heading=heading,
        level=2 if heading else 0,
        kind=kind,
        words=int(norm * norm),
        terms=terms,
        norm=norm,
        most=max(terms.values(), default=1),
    )
