"""The text of a page is shown in a moment, whatever it consists of."""

from __future__ import annotations

import pytest

from opilio.records import Extraction
from opilio.serve.page_text import grouped


@pytest.mark.parametrize(
    "heading", ["\\[" * 90_000, "[a](" * 45_000, "a" + "\u3000" * 150_000 + "b"]
)
def test_odd_headings_take_no_long(heading: str) -> None:
    told = Extraction(text="Honey\nBees make it.", markdown=f"# {heading}\n\n## Honey")
    assert list(grouped(told)) == [("Honey", ["Bees make it."])]
