"""Collects the head and body of a response from libcurl's callbacks, within limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from opilio.errors import Unusable
from opilio.fetch.http_head import ResponseHead, read_head
from opilio.records import Headers

Accept = Callable[[int, Headers], str]
"""Looks at status and headers; returns a reason to stop before the body, or ""."""

ByteLimit = int | Callable[[Headers], int]
"""The most bytes of a body; may depend on the headers."""

ANNOUNCEMENT = re.compile(rb"HTTP/[0-9.]+ 1(?!01)")  # an informational response
LINE_END = b"\r\n"
SMALL = 512  # bytes; smaller pieces of a body are put together
MOST_SMALL = 50_000  # such pieces that are taken in
STOP = -1  # what a callback returns to make libcurl end the transfer


class Limits(NamedTuple):
    """Limits of one response, besides those in the settings."""

    header_bytes: int = 32 * 1024
    header_lines: int = 200
    informational: int = 10  # responses that only announce another (1xx)
    error_bytes: int = 64 * 1024  # of a body that is discarded
    slow_rate: int = 500  # bytes of body a second; headers count as none ...
    slow_seconds: int = 20  # ... so this is the deadline for them, too


class Exchange:
    """A libcurl handle and what it receives, for one request after another.

    Its callbacks never raise, because libcurl could not pass an exception on.
    """

    def __init__(self, curl: Any, limits: Limits) -> None:
        self.curl = curl
        self.limits = limits
        self.most_lines, self.most_bytes = limits.header_lines, limits.header_bytes
        self.detour = ""  # where the handle was told to connect instead
        self.extra: Headers = ()  # header lines beyond the usual
        self.clear()

    def clear(
        self, url: str = "", limit: ByteLimit = 0, accept: Accept | None = None
    ) -> None:
        """Forget the last request; be ready for one with these limits."""
        self.url = url
        self.limit = limit
        self.max_bytes = 0  # of the body, known with the headers
        self.accept = accept
        self.lines: list[bytes] = []
        self.line_count = self.line_bytes = self.announced = 0
        self.head: ResponseHead | None = None
        self.chunks: list[bytes | bytearray] = []
        self.small = 0  # small pieces so far
        self.room = 0  # bytes of body still to be taken in
        self.truncated = ""
        self.error: Exception | None = None

    def on_header(self, line: bytes) -> int | None:
        """Handle one header line: of an informational or the final response, or a
        trailer."""
        self.line_count += 1
        self.line_bytes += len(line)
        if self.line_count > self.most_lines or self.line_bytes > self.most_bytes:
            return self._refuse(
                f"more than {self.most_lines} lines or {self.most_bytes} bytes of "
                "headers"
            )
        if line[0] in LINE_END:
            return self._end_block() if self.head is None else None
        self.lines.append(line)  # after the head: a trailer, which is ignored
        return None

    def on_body(self, chunk: bytes) -> int | None:
        """Handle a piece of the body, as far as the limit allows."""
        self.room -= len(chunk)
        if self.room >= 0:
            if len(chunk) >= SMALL:
                self.chunks.append(chunk)
                return None
            self.small += 1
            if self.small > MOST_SMALL:  # each takes time that others wait for
                self.truncated = "length"
                return STOP
            if self.chunks and isinstance(last := self.chunks[-1], bytearray):
                last += chunk
            else:
                self.chunks.append(bytearray(chunk))
            return None
        self.chunks.append(chunk[: self.room])
        self.room = 0
        self.truncated = "length"
        return STOP

    def is_usable(self) -> bool:
        """Whether a truncated response can be used: a part of a page can."""
        if self.head is None:
            return False
        return bool(self.chunks) or self.head.status >= 300

    def _end_block(self) -> int | None:
        """Handle an empty line: the end of headers, maybe of an informational
        response."""
        if not self.lines:
            self.error = Unusable("bad_http", f"{self.url} sent no headers")
            return STOP
        if ANNOUNCEMENT.match(self.lines[0]):
            self.lines.clear()
            self.announced += 1
            if self.announced > self.limits.informational:
                return self._refuse(f"more than {self.limits.informational} hints")
            return None
        try:
            self.head = read_head(self.lines)
        except ValueError as error:
            self.error = Unusable("bad_http", f"{self.url}: {error}")
            return STOP
        return self._begin_body(self.head)

    def _begin_body(self, head: ResponseHead) -> int | None:
        try:
            reason = self.accept(head.status, head.headers) if self.accept else ""
        except Exception as error:
            self.error = error
            return STOP
        if reason:
            self.error = Unusable(reason, f"{self.url} is not wanted: {reason}")
            return STOP
        limit = self.limit
        self.max_bytes = limit if isinstance(limit, int) else limit(head.headers)
        is_read = 200 <= head.status < 300
        self.room = self.max_bytes if is_read else self.limits.error_bytes
        return None

    def _refuse(self, excess: str) -> int:
        self.error = Unusable("too_many_headers", f"{self.url} sent {excess}")
        return STOP
