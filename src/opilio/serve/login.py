"""Knows who may use the server: a one-time login link, cookies, and a token."""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from opilio.errors import BadInput

MOST_SESSIONS = 100  # the oldest is ended first
SHORTEST_TOKEN = 16  # characters


class Doorkeeper:
    """Checks login links, session cookies and the token."""

    def __init__(self, token: str = "") -> None:
        self.token = token  # "": there is none, only the login link
        self.link_code = secrets.token_urlsafe(24)  # "" once it was used
        self._sessions: dict[str, str] = {}  # cookie -> the token of its forms

    def enter(self, code: str) -> str:
        """A new session for the code of the login link, which works once, or for the
        token; "" if it is neither."""
        if self.link_code and same(code, self.link_code):
            self.link_code = ""
        elif not self.is_token(code):
            return ""
        while len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        cookie = secrets.token_urlsafe(24)
        self._sessions[cookie] = secrets.token_urlsafe(24)
        return cookie

    def leave(self, cookie: str) -> None:
        """End a session."""
        self._sessions.pop(cookie, None)

    def is_token(self, text: str) -> bool:
        """Whether this is the token that programs use."""
        return bool(self.token) and same(text, self.token)

    def form_token(self, cookie: str) -> str:
        """What the forms of a session contain, so that no other site can send one; ""
        for a cookie that is not known."""
        return self._sessions.get(cookie, "")


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same, in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def read_token(file: Path) -> str:
    """The token in a file; a file that is not there is made, for its owner alone."""
    if not file.exists():
        token = secrets.token_urlsafe(24)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as opened:
            opened.write(token + "\n")
        return token
    if file.stat().st_mode & 0o077:
        raise BadInput(
            f"{file} can be read by other users; protect it with: chmod 600 {file}"
        )
    token = file.read_text(encoding="utf-8").strip()
    if len(token) < SHORTEST_TOKEN or not token.isascii():
        raise BadInput(
            f"{file} must have a token of at least {SHORTEST_TOKEN} ASCII characters; "
            "delete it, and a random one is made"
        )
    return token
