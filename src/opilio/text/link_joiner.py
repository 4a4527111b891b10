"""Resolves the links of a page to canonical URLs, faster than the parser alone.

Most links are simple, and many are repeated on the pages of one folder, so they are
joined as text or found in a cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from opilio.records import Fingerprint
from opilio.text import urls
from opilio.text.urls import MAX_LENGTH, fingerprint, folder, join, origin

MOST_FOLDERS = 40
WORTH_CACHING = 1024  # so that hostile pages cannot fill the caches with long strings
MEMO_SIZE = 2**12  # cached hrefs of one folder

# References that need no parser: up some folders or to the root, then plain segments.
# A set with all its characters listed is looked up in a bitmap; \w would not be.
_plain = re.compile(
    r"(/|(?:\.\./)*)((?:[A-Za-z0-9_][A-Za-z0-9_~,./-]*)?)(?:#.*)?"
).fullmatch

# What depends on the name of the page itself, not only on its folder. Parsers skip
# blanks, tabs and line ends, and a scheme that is that of the page.
_own_name = re.compile(
    r"[?#\x00-\x20]|[^/?#]*[\t\n\r]|https?:(?!//)", re.IGNORECASE
).match


class Joiner(dict[str, tuple[str, Fingerprint]]):
    """Resolves the hrefs of one page to canonical URL and fingerprint, or ("", 0).

    `base_href` is the page's <base href>.

    >>> Joiner("http://ex.com/a/b")["../c#top"][0]
    'http://ex.com/c'
    """

    def __init__(self, base_url: str, base_href: str = "") -> None:
        own = urls.page(base_url)
        self._base = base = (base_href and join(own, base_href)) or own
        self._folder = folder(base)
        self._root, self._starts, self._memo = _shared(self._folder)

    def join_all(self, hrefs: Iterable[str]) -> list[tuple[str, Fingerprint]]:
        """The canonical URL and fingerprint of each href."""
        memo = self._memo  # knows most of them
        return [memo.get(href) or self[href] for href in hrefs]

    def __missing__(self, href: str) -> tuple[str, Fingerprint]:
        found = self._memo.get(href)
        if found is None:
            found = self._find(href)
            # An href that depends on the page's own name is not shared in its folder.
            if href and len(href) <= WORTH_CACHING and not _own_name(href):
                if len(self._memo) >= MEMO_SIZE:
                    self._memo.clear()
                self._memo[href] = found
        self[href] = found
        return found

    def _find(self, href: str) -> tuple[str, Fingerprint]:
        if len(href) > MAX_LENGTH:  # its beginning is recorded, as too long
            href = href[:MAX_LENGTH]
        if len(href) > WORTH_CACHING:
            return _joined.__wrapped__(self._base, href)
        if self._root and (url := self._join_plain(href)):
            return url, fingerprint(url)
        return _joined(self._needed_base(href), href)

    def _join_plain(self, href: str) -> str:
        """The URL of a reference that needs no parser; otherwise ""."""
        plain = _plain(href)
        if plain is not None:
            up, rest = plain.groups()
            if "/." in rest:
                return ""
            if up or rest:
                return self._starts.get(up, self._root) + rest
            return self._base
        if href.startswith(self._root):
            plain = _plain(href, len(self._root))
            if plain is not None and not plain[1] and "/." not in plain[2]:
                return self._root + plain[2]
        return ""

    def _needed_base(self, href: str) -> str:
        """The part of the base that `href` depends on, so that pages share the
        cache."""
        if _own_name(href):
            return self._base
        if href.startswith(("http://", "https://")):
            return ""
        if href.startswith("/"):
            return self._root or self._base
        if href[:1].isalnum() or href[:1] == ".":
            return self._folder
        return self._base


class _Folder(NamedTuple):
    """What all pages of a folder have in common."""

    root: str  # "": the parser must see to what is plain elsewhere
    starts: dict[str, str]  # what "/", "", "../", "../../" and so on lead to
    memo: dict[str, tuple[str, Fingerprint]]
    """Cached hrefs of all its pages, which often link to the same pages."""


@lru_cache(maxsize=64)
def _shared(folder: str) -> _Folder:
    # Very long folders are left to the parser; their names would fill the memory.
    if not 0 < folder.count("/") <= MOST_FOLDERS:
        return _Folder("", {}, {})
    root = origin(folder) + "/"
    starts, up = {"/": root}, ""
    while len(folder) > len(root):
        starts[up] = folder
        folder = folder[: folder.rindex("/", 0, -1) + 1]
        up += "../"
    return _Folder(root, starts, {})


@lru_cache(maxsize=2**13)
def _joined(base: str, href: str) -> tuple[str, Fingerprint]:
    url = join(base, href)
    return url, fingerprint(url) if url else 0
