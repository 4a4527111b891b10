"""Prepares the pages of a sample for learning: the surest ones and the background.

The background is the pages whose keyword score is at most half of k̂, the mean of the
highest ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from opilio.judge.hashed_words import Stack, Weights, stack
from opilio.judge.page_sample import Sample

SUREST = 20  # pages whose mean is k̂
FEW = 0.5  # times k̂: pages with no more are background
LEAST = 10  # background pages to learn from


class Lesson(NamedTuple):
    """The pages of a sample, ready to be learnt from."""

    pages: int  # seen so far
    idf: Weights
    surest: Stack
    background: Stack
    keywords: Weights  # k of the surest
    most: float  # k̂


def prepare_lesson(sample: Sample) -> Lesson | None:
    """The pages to learn from; None: there is no background yet."""
    keywords = np.array([seen.keywords for seen in sample.surest], np.float32)
    most = top(keywords)
    least = [seen.row for seen in sample.any if seen.keywords <= FEW * most]
    if len(least) < LEAST:
        return None
    idf = sample.rarity.idf()
    surest = stack([seen.row for seen in sample.surest], idf)
    pages = sample.rarity.pages
    return Lesson(pages, idf, surest, stack(least, idf), keywords, most)


def top(values: Sequence[float] | Weights) -> float:
    """The mean of the largest values; 0 if there are none."""
    largest = np.sort(np.asarray(values, np.float64))[-SUREST:]
    return float(largest.mean()) if len(largest) else 0.0


def mean(rows: Stack) -> Weights:
    """The mean of rows."""
    count = len(rows.starts)
    return rows.sum(np.full(count, 1 / count))
