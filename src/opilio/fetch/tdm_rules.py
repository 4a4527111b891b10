"""Reads `/.well-known/tdmrep.json`: which pages of a site are reserved against mining.

The file is an array of rules, each with a `location`, which is a pattern as in
robots.txt, a `tdm-reservation` of 0 or 1 and perhaps a `tdm-policy`. The first rule
that matches a page counts (W3C TDMRep Community Group, "TDM Reservation Protocol",
2024, "TDM File on the Origin Server").
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from opilio.fetch.robots_rules import matches, normal_path, normal_rule

MOST_RULES = 1000
LONGEST = 500  # characters of a pattern or policy
RESERVATION, POLICY = "tdm-reservation", "tdm-policy"


class TdmRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """What holds for the pages whose path matches a pattern."""

    location: str
    reservation: str  # "1": reserved, "0": not
    policy: str = ""  # the address of the terms


def read_tdm_rules(body: bytes) -> list[TdmRule] | None:
    """The valid rules of a file, in their order; None: it is no such file."""
    try:
        found = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    if not isinstance(found, list):
        return None
    rules = (rule_of(one) for one in found[:MOST_RULES] if isinstance(one, dict))
    return [rule for rule in rules if rule]


def rule_of(given: dict[str, Any]) -> TdmRule | None:
    """A rule; None if it is not valid."""
    location, policy = given.get("location"), given.get(POLICY)
    reserved = str(given.get(RESERVATION)).strip()
    if not isinstance(location, str) or not 0 < len(location) <= LONGEST:
        return None
    if reserved not in ("0", "1"):
        return None
    policy = policy[:LONGEST] if isinstance(policy, str) else ""
    return TdmRule(location, reserved, policy)


def tdm_usage(packed: bytes, url: str) -> dict[str, str]:
    """What stored rules say about a page: reservation and policy, by their names."""
    path = normal_path(url)
    for parts, whole, rule in unpacked(packed):
        if matches(path, parts, whole):
            found = {RESERVATION: rule.reservation, POLICY: rule.policy}
            return {name: value for name, value in found.items() if value}
    return {}


@lru_cache(maxsize=64)
def unpacked(packed: bytes) -> list[tuple[list[str], bool, TdmRule]]:
    """Stored rules with their patterns, taken apart at their wildcards."""
    found = []
    for rule in msgspec.json.decode(packed, type=list[TdmRule]) if packed else ():
        pattern = normal_rule(rule.location)
        parts = pattern.removesuffix("$").split("*")
        found.append((parts, pattern.endswith("$"), rule))
    return found
