"""Requires a contact address, so that website owners can reach the user."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

from opilio.errors import BadInput
from opilio.settings import FetchSettings
from opilio.text.urls import host, join, without_port

# Names that lead nowhere outside a machine or a test (RFC 2606, RFC 6761).
NOWHERE = ("localhost", "test", "invalid", "example")
REACHABLE = re.compile(r"https?://\S+\.\S+|[^\s@]+@[^\s@]+\.[^\s@]+", re.IGNORECASE)
ASKED = "https://example.org/about-my-crawl or me@example.org"


def user_agent(settings: FetchSettings) -> str:
    """The User-Agent header, including the contact.

    >>> user_agent(FetchSettings(user_agent="bees (study)", contact="me@example.org"))
    'bees (study; +me@example.org)'
    >>> user_agent(FetchSettings(user_agent="bees", contact="me@example.org"))
    'bees (+me@example.org)'
    """
    name, contact = settings.user_agent.strip(), settings.contact.strip()
    if not contact:
        return name
    if name.endswith(")"):
        return f"{name[:-1]}; +{contact})"
    return f"{name} (+{contact})"


def require_contact(settings: FetchSettings, seeds: Iterable[str]) -> None:
    """Raise BadInput if a seed is on another machine and there is no contact."""
    contact = settings.contact.strip()
    if contact and not REACHABLE.fullmatch(contact):
        raise BadInput(
            f"fetch.contact: {contact!r} is neither a URL nor an e-mail address; write "
            f"it like {ASKED}"
        )
    if REACHABLE.search(user_agent(settings)):
        return
    far = next((seed for seed in seeds if not is_here(seed)), None)
    if far:
        raise BadInput(
            f"{far} is on another machine, and its owners must be able to reach you: "
            f"give --contact ADDRESS, or set contact in [fetch] ({ASKED}); in Python, "
            "pass contact=…. It becomes part of the user agent and is sent with every "
            "request"
        )


def is_here(url: str) -> bool:
    """Whether a URL is on this machine, or on a host that exists in tests only."""
    name = without_port(host(join("", url))).strip("[]")
    if name.rstrip(".").rpartition(".")[2] in NOWHERE:
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
