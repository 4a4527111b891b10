"""The table of seen URLs stays fast whatever URLs a site has."""

from __future__ import annotations

import numpy as np

from opilio.storage.seen_urls import WIDTH, SeenUrls


def test_a_site_cannot_choose_urls_that_share_a_bucket() -> None:
    """By the constant that is usual for such tables, these all would."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    chosen = np.arange(1, 200_001, dtype=np.uint64) * np.uint64(inverse)
    prints = chosen.view(np.int64)
    seen = SeenUrls()
    seen.load(prints, np.arange(1, len(prints) + 1))
    fullest = seen._table._filled.reshape(-1, 16).sum(axis=1).max()
    assert fullest < 0.95 * 16 * WIDTH, "no stretch of the table is full"
    assert seen.find(prints[-3:].tolist()) == [199_998, 199_999, 200_000]
