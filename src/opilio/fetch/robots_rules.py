"""The rules of a robots.txt file for one robot, in bounded memory and time.

Matching is that of RFC 9309: the longest rule wins, Allow wins a tie, `*` stands for
anything and a final `$` for the end. Rules without either are looked up in a table, one
look-up for each length that a rule has.

Hostile files have tens of thousands of rules. The first EXACT bytes of rules are kept
as they are, and the first WILDCARDS rules with a `*`. Of those beyond, an Allow is
dropped and a Disallow is shortened, so that it forbids more: at first to its first
segment, in the end to everything. Nothing that a file forbids is ever visited.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from urllib.parse import quote

EXACT = 256 * 1024  # bytes of rules for us that are kept as they are
LINE = 12  # bytes that the name of a rule takes
SHORTENED = 1000  # first segments of the rules beyond
WILDCARDS = 1000
LONGEST = 2048  # characters of a rule; it is cut there

FOR = "# for "  # the first line of a reduced file
ALLOW, DISALLOW = "allow", "disallow"
FIELDS = {
    "user-agent": "agent",
    "useragent": "agent",
    "user agent": "agent",
    "allow": ALLOW,
    "disallow": DISALLOW,
    "dissallow": DISALLOW,
    "dissalow": DISALLOW,
    "disalow": DISALLOW,
    "diasllow": DISALLOW,
    "disallaw": DISALLOW,
    "crawl-delay": "delay",
    "crawl delay": "delay",
    "sitemap": "sitemap",
    "sitemaps": "sitemap",
    "site-map": "sitemap",
    "content-usage": "content-usage",
    "content-signal": "content-signal",
    "license": "license",
}
WHOLE_FILE = {"sitemap": 1000, "license": 10}  # fields outside of groups: most of each
SIGNALS = ("content-usage", "content-signal", "license")  # of use, not of access
MOST_SIGNALS = 100

_product_token = re.compile(r"\*|[a-z_-]+", re.IGNORECASE).match
_plain_url = re.compile(
    r"https?://[^/?#]*(/(?!/)[A-Za-z0-9_.~/=-]*)"
).fullmatch  # nothing in it needs an escape
_location = re.compile(r"[a-z]+://[^/?#]*([^#]*)").match
_plain_rule = re.compile(r"[A-Za-z0-9_.~/=*-]+\$?").fullmatch
_escape = re.compile(rb"%([0-9a-f]{2})", re.IGNORECASE).sub
KEPT = frozenset((b"2F", b"25"))  # "/" and "%"
KEPT_IN_RULES = KEPT | {b"2A"}  # "*"

Directive = tuple[str, str]
"""A field of FIELDS, and its value."""


class RobotRules:
    """The rules, delay and sitemaps of one file for one robot."""

    def __init__(self, directives: Iterable[Directive]) -> None:
        self.delay: float | None = None  # Crawl-delay in seconds
        self.sitemaps: Sequence[str] = ()
        self._literal: dict[str, bool] = {}  # beginning of a path: is it allowed?
        self._whole: dict[str, bool] = {}  # the same of a whole path
        self._special: list[tuple[int, bool, Sequence[str], bool]] = []
        """Length, is it allowed?, its parts between stars, is it the whole path?"""
        sitemaps = []
        for field, value in directives:
            if field == "sitemap":
                sitemaps.append(value)
            elif field == "delay":
                self._set_delay(value)
            elif field not in SIGNALS:
                self._add(value, field == ALLOW)
        self.sitemaps = tuple(sitemaps)
        # The longest first, and Allow before Disallow.
        self._special.sort(key=lambda rule: (-rule[0], not rule[1]))
        self._lengths = sorted(set(map(len, self._literal)), reverse=True)

    @property
    def size(self) -> int:
        """The number of rules."""
        return len(self._literal) + len(self._whole) + len(self._special)

    def allows(self, url: str) -> bool:
        """Whether this URL may be visited."""
        path = normal_path(url)
        if path == "/robots.txt":
            return True
        longest, allowed = 0, True
        if path in self._whole:
            longest, allowed = len(path) + 1, self._whole[path]
        for length in () if longest else self._lengths:
            if length <= len(path) and (beginning := path[:length]) in self._literal:
                longest, allowed = length, self._literal[beginning]
                break
        for length, allows, parts, whole in self._special:
            if length < longest:
                break
            if matches(path, parts, whole) and (length > longest or allows):
                return allows
        return allowed

    def _add(self, rule: str, allowed: bool) -> None:
        if "$" in rule:  # it may also be meant as it is written
            self._add(rule.replace("$", "%24"), allowed)
        rule = normal_rule(rule)
        if not rule:
            return
        if "*" in rule or rule.endswith("$"):
            self._add_special(rule, allowed)
        else:
            self._literal[rule] = allowed or self._literal.get(rule, False)
        if allowed and rule.endswith("/index.html"):  # so is the folder
            self._add_special(rule.removesuffix("index.html") + "$", allowed)

    def _add_special(self, rule: str, allowed: bool) -> None:
        whole = rule.endswith("$")
        if whole and "*" not in rule:
            path = rule[:-1]
            self._whole[path] = allowed or self._whole.get(path, False)
            return
        text = re.sub(r"\*+", "*", rule[:-1] if whole else rule)
        self._special.append((len(rule), allowed, text.split("*"), whole))

    def _set_delay(self, value: str) -> None:
        try:
            delay = float(value)
        except ValueError:
            return
        if isfinite(delay) and delay >= 0:
            self.delay = delay


def read_rules(body: bytes, token: str) -> RobotRules:
    """The rules of a file for the robot of this name."""
    return RobotRules(bounded(directives_for(text_of(body), token)))


def usage_in(body: bytes, token: str, url: str) -> dict[str, str]:
    """What a file says about the use of a page: the signals, by field.

    A Content-Usage may name a path before its preferences; the longest that matches
    the page counts, as for Allow and Disallow.
    """
    found: dict[str, str] = {}
    longest = -1
    for field, value in bounded(directives_for(text_of(body), token)):
        if field not in SIGNALS:
            continue
        rule, _, rest = value.partition(" ")
        if field == "content-usage" and rule.startswith("/"):
            pattern = normal_rule(rule)
            whole = pattern.endswith("$")
            parts = pattern.removesuffix("$").split("*")
            if len(rule) <= longest or not matches(normal_path(url), parts, whole):
                continue
            longest, found[field] = len(rule), rest.strip()
        elif field == "content-usage" and longest >= 0:
            continue
        else:
            found[field] = f"{found[field]}, {value}" if field in found else value
    return found


def reduce_file(body: bytes, token: str) -> bytes:
    """A file with nothing but what matters to the robot of this name, bounded."""
    kept = bounded(directives_for(text_of(body), token))
    names = {"delay": "crawl-delay"}
    lines = [f"{names.get(field, field)}: {value}\n" for field, value in kept]
    return "".join([f"{FOR}{token}\nuser-agent: *\n", *lines]).encode()


def is_for_another(body: bytes, token: str) -> bool:
    """Whether a file was reduced for a robot of another name."""
    start = FOR.encode()
    return body.startswith(start) and not body.startswith(
        start + token.encode() + b"\n"
    )


def text_of(body: bytes) -> str:
    """The text of a file, without a byte order mark."""
    return body.decode("utf-8", "replace").removeprefix("\ufeff")


def directives_for(text: str, token: str) -> list[Directive]:
    """What the file says to the robot of this name; to all, if it does not name it."""
    ours: list[Directive] = []
    everyones: list[Directive] = []
    sitemaps: list[Directive] = []
    counts = dict.fromkeys(WHOLE_FILE, 0)
    named = False  # does any group name us?
    groups: list[list[Directive]] = []  # those of the current group
    is_open = False  # may the group get another name?
    for field, value in lines_of(text):
        if field in WHOLE_FILE:
            if value and counts[field] < WHOLE_FILE[field]:
                counts[field] += 1
                sitemaps.append((field, value[:LONGEST]))
        elif field == "agent":
            if not is_open:
                groups, is_open = [], True
            found = _product_token(value)
            name = found[0].lower() if found else ""
            named = named or name == token
            wanted = ours if name == token else everyones if name == "*" else None
            if wanted is not None and not any(wanted is group for group in groups):
                groups.append(wanted)
        else:
            is_open = False
            for group in groups if value else ():
                group.append((field, value[:LONGEST]))
    return (ours if named else everyones) + sitemaps


def lines_of(text: str) -> Iterator[Directive]:
    """The known fields of a file with their values; a blank may stand for the colon."""
    for line in filter(None, text.splitlines()):
        line = line.partition("#")[0].strip()
        field, colon, value = line.partition(":")
        known = FIELDS.get(field.strip().lower()) if colon else None
        if known is None and line and not (colon and value[:1].isspace()):
            for count in (1, 2):
                words = line.split(maxsplit=count)
                known = FIELDS.get(" ".join(words[:count]).lower())
                if known:
                    value = words[count] if len(words) > count else ""
                    break
        if known:
            yield known, value.strip()


def bounded(directives: Iterable[Directive]) -> Iterator[Directive]:
    """The same rules as far as they fit; shortened ones for the rest."""
    room, wildcards, signals = EXACT, WILDCARDS, MOST_SIGNALS
    shortened: set[str] = set()
    for field, value in directives:
        if field in (ALLOW, DISALLOW):
            room -= len(value.encode()) + LINE
            wildcards -= "*" in value
            if room < 0 or (wildcards < 0 and "*" in value):
                if field == DISALLOW:
                    shortened.add(shorten(value))
                continue
        elif field in SIGNALS:
            signals -= 1
            if signals < 0:
                continue
        yield field, value
    if len(shortened) > SHORTENED:
        shortened = {"/"}
    for value in sorted(shortened):
        yield DISALLOW, value


def shorten(rule: str) -> str:
    """The first segment of a rule, up to its first wildcard."""
    literal = re.split(r"[*$]", rule, maxsplit=1)[0]
    first = re.match("/?[^/?]*", literal)
    return (first[0] if first else "") or "/"


def matches(path: str, parts: Sequence[str], whole: bool) -> bool:
    """Whether a path begins with these parts, with anything between them."""
    first, *others = parts
    if not path.startswith(first):
        return False
    place = len(first)
    if not others:
        return not whole or place == len(path)
    *middle, last = others
    for part in middle:
        found = path.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    if whole:
        return len(path) - len(last) >= place and path.endswith(last)
    return path.find(last, place) >= 0


def normal_path(url: str) -> str:
    """Path and query of a URL, spelt so that equal ones are the same text."""
    if plain := _plain_url(url):
        return plain[1]
    found = _location(url)
    path = normal(found[1] if found else url, KEPT, "/%=")
    return path if path.startswith("/") else f"/{path}"


def normal_rule(rule: str) -> str:
    """A rule, spelt as paths are; a final `$` stays."""
    if _plain_rule(rule):
        return rule
    if rule.startswith(("https://", "http://")):
        rule = f"/{rule}"
    end = "$" if rule.endswith("$") else ""
    return normal(rule.removesuffix("$"), KEPT_IN_RULES, "/%=*") + end


def normal(text: str, kept: frozenset[bytes], safe: str) -> str:
    """A text with escapes where they are needed, and where they are kept, in
    capitals."""

    def decoded(escape: re.Match[bytes]) -> bytes:
        code = escape[1].upper()
        return b"%" + code if code in kept else bytes.fromhex(code.decode())

    raw = _escape(decoded, text.encode("utf-8", "replace"))
    return quote(raw.decode("utf-8", "replace"), safe=safe)
