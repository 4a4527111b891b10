"""Makes the addresses of links absolute, as Markdown has them."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

# A path below or beside the page, as most links within a site are written.
_name = r"[\w%~,()!+-][\w.%~,()!+-]*"
_beside = re.compile(rf"((?:\.\./)*)((?:{_name}/)*{_name}(?:#[\w.%-]+)?)").fullmatch
_folders = re.compile(rf"/(?:{_name}/)*").match


class LinkAddresses:
    """The addresses of the links of one page."""

    def __init__(self, base: str) -> None:
        self.base = base
        parts = urlsplit(address(base, base))
        self.origin = f"{parts.scheme}://{parts.netloc}"
        found = _folders(parts.path)
        self.folders = found[0].split("/")[1:-1] if found else []
        last = parts.path[found.end() :] if found else "/"
        self.is_plain = bool(parts.scheme) and "/" not in last and ";" not in parts.path

    def of(self, href: str) -> str:
        """A link as an absolute web address; "": it is none."""
        found = _beside(href) if self.is_plain else None
        ups = found.end(1) // 3 if found else 0
        if not found or ups > len(self.folders):
            return address(self.base, href)
        folders = self.folders[: len(self.folders) - ups]
        return "/".join((self.origin, *folders, found[2]))


def address(base: str, href: str) -> str:
    """The same without preparation."""
    try:
        target = urljoin(base, href.strip()) if href.strip() else ""
        parts = urlsplit(target)
        is_web = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:  # of the port, for example
        return ""
    return target if is_web else ""
