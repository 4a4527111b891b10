"""Relevance of the blocks of a page: Aastha, M.E. thesis, sections 4.5.1 and 4.5.2.

    t_i    = n_i / n_max
    R(t,b) = Σ_k w_kt·w_kb / √(Σ_k w_kt² · Σ_k w_kb²)
    R(t,p) = Σ_b R(t,b)

Symbols: n_i the count of topic term i in the block, n_max the count of the block's most
frequent term; w_kt weight of term k in the topic's table, w_kb = t_k its weight in
block b, over the terms of the table; p the page.

`paper`: as above, all blocks; the score is R/(1+R), since the sum has no limit.

We differ (`fixed`), for these reasons:

- Over the terms of the table alone, a block of a thousand words of which one is the
  topic's has the R of that one word by itself. So w_kb is 1 + ln n_k and the block's
  length is taken over all its terms, as for whole pages. (n_max cancels out in R.)
- A heading or a line of a list is short enough to be all topic by chance. So a block
  counts as no shorter than one of 36 different words.
- The sum grows with the number of headings. So the score is the mean of the blocks,
  each weighing as its length, ‖b‖. The `maximum` judges a page by its best block; it
  finds pages that treat the topic in passing.
- Navigation, footers and advertising say nothing about a page, so they do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum, sqrt
from typing import Literal

from opilio.judge.cosine import CosineWeights
from opilio.judge.largest_parts import largest
from opilio.records import Block, BlockKind, Mode, Page, Reads, Subject, Verdict

THRESHOLD = {"fixed": 0.03, "maximum": 0.09, "paper": 0.65}  # best F1 when tuned
SHORTEST = 6.0  # the least length of a block: that of 36 different words
MAX_HEADING = 60  # characters of it in the name of a part

Relevance = Callable[[Block], float]


def block_relevance(weights: Mapping[str, float], mode: Mode = "fixed") -> Relevance:
    """R(t,b) as a function of b, for the topic with these weights."""
    table = CosineWeights(weights, "blocks")

    def fixed(block: Block) -> float:
        return min(1.0, fsum(table.parts(block.terms, reach(block)).values()))

    def paper(block: Block) -> float:
        on_table = {term: n for term, n in block.terms.items() if term in table.weights}
        in_block = term_weights(on_table, block.most)
        length = sqrt(sum(weight**2 for weight in in_block.values()))
        common = sum(table.weights[term] * in_block[term] for term in in_block)
        return common / (table.length * length) if length else 0.0

    return paper if mode == "paper" else fixed


def term_weights(counts: Mapping[str, int], most: int) -> dict[str, float]:
    """t_i = n_i / n_max for each term."""
    return {term: count / most for term, count in counts.items()} if most else {}


def reach(block: Block) -> float:
    """The length of a block, but no less than SHORTEST."""
    return max(block.norm, SHORTEST)


class Blocks:
    """Judges a page by its blocks: their mean (`fixed`), best one, or sum (`paper`)."""

    reads = Reads(blocks=True)

    def __init__(
        self, subject: Subject, mode: Literal["fixed", "paper", "maximum"] = "fixed"
    ) -> None:
        self.mode = mode
        self.relevance = block_relevance(
            subject.weights, "paper" if mode == "paper" else "fixed"
        )
        self.threshold = (
            THRESHOLD[mode] if subject.threshold is None else subject.threshold
        )

    def judge(self, page: Page) -> Verdict:
        """The score, and what the best blocks brought to it."""
        blocks = page.blocks or [whole(page)]
        if self.mode == "paper":
            found = {n: self.relevance(block) for n, block in enumerate(blocks)}
            total = sum(found.values())
            return self.verdict(total / (1 + total), blocks, found, sum=total)
        counting = [n for n, block in enumerate(blocks) if block.kind is BlockKind.TEXT]
        counting = counting or list(range(len(blocks)))  # rather all than none
        found = {n: self.relevance(blocks[n]) for n in counting}
        if self.mode == "maximum":
            return self.verdict(max(found.values()), blocks, found)
        length = sum(blocks[n].norm for n in counting) or 1.0
        found = {n: value * blocks[n].norm / length for n, value in found.items()}
        return self.verdict(min(1.0, sum(found.values())), blocks, found)

    def verdict(
        self,
        score: float,
        blocks: Sequence[Block],
        found: Mapping[int, float],
        **more: float,
    ) -> Verdict:
        """The verdict with one part per block that contributes anything."""
        parts = {name(n, blocks[n]): value for n, value in found.items() if value}
        return Verdict(score, score >= self.threshold, {**largest(parts), **more})


def whole(page: Page) -> Block:
    """A page without blocks as one block; its n_max is not known, and cancels out."""
    return Block(words=page.words, terms=page.terms, norm=page.norm, most=1)


def name(number: int, block: Block) -> str:
    """The name of a block in the parts: its number and heading."""
    return f"{number} {block.heading[:MAX_HEADING] or '(no heading)'}"
