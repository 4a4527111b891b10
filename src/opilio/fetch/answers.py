"""Decides from status and headers whether a response is a page, useless, or to
retry."""

from __future__ import annotations

from datetime import UTC

from opilio.errors import Unusable
from opilio.records import Headers, Response
from opilio.text import content

REDIRECTS = frozenset((300, 301, 302, 303, 307, 308))
EMPTY = frozenset((204, 205))
RETRIED = frozenset((408, 425, 429))  # and all of 5xx
WANTED = content.HTML_TYPES | content.UNTOLD_TYPES


def refuse_other_types(status: int, headers: Headers) -> str:
    """The reason to skip the body of a response that is not a page; "": it may be."""
    if not 200 <= status < 300:
        return ""
    told = ", ".join(value for name, value in headers if name == "content-type")
    return "" if content.media_type(told) in WANTED else "not_html"


def is_retried(status: int) -> bool:
    """Whether a request with this status is retried."""
    return status in RETRIED or 500 <= status < 600


def refuse_unusable(response: Response) -> None:
    """Raise Unusable unless the response is a page or a redirect."""
    url, status = response.url, response.status
    if status in REDIRECTS:
        if response.header("location"):
            return
        raise Unusable("bad_redirect", f"{url} answered {status} without a Location")
    if not 200 <= status < 300 or status == 206:
        raise Unusable(f"http_{status}", f"{url} answered {status}")
    if status in EMPTY or not response.body:
        raise Unusable("empty", f"{url} answered {status} with an empty body")
    if not content.is_html(response.header("content-type"), response.body):
        raise Unusable("not_html", f"{url} is not HTML, whatever its Content-Type says")


def retry_after(response: Response) -> float | None:
    """Seconds that the host asks us to wait: a number, or until a date."""
    told = response.header("retry-after")
    if told.isdecimal():
        return float(told)
    from email.utils import parsedate_to_datetime  # slow to import, rarely needed

    try:
        date = parsedate_to_datetime(told)
        moment = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, moment - response.fetched_at)
