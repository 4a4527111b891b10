"""Normalises the seed URLs that the user gave."""

from __future__ import annotations

from collections.abc import Iterable

from opilio.errors import BadInput
from opilio.text import urls


def canonical_given(addresses: Iterable[str]) -> list[str]:
    """The canonical form of each URL, once; BadInput for one that is not valid."""
    found: dict[str, None] = {}
    for address in addresses:
        url = urls.join("", address)
        if not url:
            raise BadInput(
                f"the seed {address!r} is not a URL; write http://… or https://…"
            )
        found[url] = None
    return list(found)
