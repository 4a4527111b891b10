"""The fallback for tidying markup if nothing was compiled: every page is parsed.

Checking whether a page needs a parser pays off only in compiled code (`_tidy`).
"""

from __future__ import annotations

EDITION = 2  # the version of `_tidy` that is needed


def tidied(markup: bytes) -> bytes | None:
    """The markup of a page in UTF-8 in the form that `walk` expects.

    None: it must be parsed.
    """
    return None
