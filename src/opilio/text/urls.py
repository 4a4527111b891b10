"""Normalises URLs, and finds their fingerprint, host, site and template.

Parsing and joining follow the WHATWG standard (ada). The canonical form identifies a
link: http or https, host in lower case and punycode, no credentials, no default port,
no dot segments, no fragment, escapes only where they are needed and in upper case,
query sorted by name, no session or tracking parameters.
"""

from __future__ import annotations

import re
import string
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ada_url import join_url, normalize_url
from xxhash import xxh3_64_intdigest

from opilio.records import Fingerprint

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

MAX_LENGTH = 8192  # servers refuse longer ones, and reading them costs time

SESSION = """
    phpsessid jsessionid sessionid session_id sessid asp.net_sessionid oscsid zenid
    xtcsid cfid cftoken
"""
TRACKING = """
    gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid igshid
    li_fat_id mc_cid mc_eid mkt_tok _ga _gl _hsenc _hsmi __hstc __hssc __hsfp
    _openstat s_kwcid ef_id vero_id vero_conv wickedid oly_anon_id oly_enc_id
    fb_action_ids fb_action_types fb_ref fb_source rb_clickid ml_subscriber spm
    pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content pk_cid
"""
NOISE = frozenset((SESSION + TRACKING).split())
NOISE_PREFIXES = ("utm_", "mtm_", "piwik_", "matomo_", "hsa_", "aspsessionid")

UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
_escape = re.compile("%(?:[0-9A-Fa-f]{2})?").sub
_parts = re.compile(r"(https?://)([^/?#]*)([^?#]*)(?:\?([^#]*))?").match
_path_session = re.compile(r";(?:jsessionid|phpsessid|sessionid)=[^/;]*", re.I).sub
_labels = re.compile(r"(?:[^.:]{1,63}\.)*[^.:]{1,63}(?::\d+)?").fullmatch
_credentials = re.compile("(?<=//)[^/?#]*@|^(?!.*//)[^/?#]*@").sub
_small_number = re.compile(r"\d{1,8}").fullmatch
_zeros = str.maketrans("123456789", "000000000")
_other_digits = re.compile("(?<!%)(?<!%[0-9A-F])[0-9]+").subn  # not those of an escape

# Most URLs are like this, and canonical unless they hold a dot segment or punycode.
_usual = re.compile(
    r"https?://(?:(?:[a-z0-9-]{1,63}\.){1,3}[a-z]{2,63}|BYTE\.BYTE\.BYTE\.BYTE)"
    r"(?::[1-5]?[1-9]\d{3})?/(?:[A-Za-z0-9_][A-Za-z0-9_~,./-]*)?".replace(
        "BYTE", r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
    ),
    re.ASCII,
).fullmatch

_HOME = re.compile(r"/(\w{1,2}/)?(index\.\w+)?")


def canonical(url: str) -> str:
    """The canonical form of an absolute URL; ValueError if it is not http or https."""
    return _canonical(_parse("", url))


def join(base: str, href: str) -> str:
    """The canonical URL that `href` means on the page `base`; "" if it is not usable.

    >>> join("http://ex.com/a/b", "../c#top")
    'http://ex.com/c'
    """
    try:
        return _canonical(_parse(base, href))
    except ValueError:
        return ""


def _parse(base: str, href: str) -> str:
    href = href.partition("#")[0]
    if len(href) > MAX_LENGTH:
        raise ValueError(f"URL of {len(href)} characters; the limit is {MAX_LENGTH}")
    return join_url(base, href) if base else normalize_url(href)


@lru_cache(maxsize=16)
def page(url: str) -> str:
    """The canonical form of the URL of the current page; "" if it has none.

    Cached, because it is needed more than once per page.
    """
    if len(url) <= MAX_LENGTH and _usual(url) and "/." not in url and "xn--" not in url:
        return url
    return join("", url)


def folder(url: str) -> str:
    """The folder of a canonical URL: all up to the last slash of its path."""
    return url[: url.partition("?")[0].rfind("/") + 1]


def _canonical(href: str) -> str:
    """The canonical form of a URL that the parser has serialised."""
    parts = _parts(href)
    if parts is None:
        raise ValueError("not an http or https URL")
    scheme, authority, path, query = parts.groups()
    authority = _authority(authority)
    if "%" in path:
        path = _tidy_escapes(path)
    if ";" in path:
        path = _path_session("", path)
        if "/." in path:  # what is left of ..;jsessionid=1 is a dot segment
            path = normalize_url(f"http://h{path}")[8:]
    if query:
        query = _tidy_query(query)
    return f"{scheme}{authority}{path}?{query}" if query else scheme + authority + path


@lru_cache(maxsize=2**12)
def _authority(authority: str) -> str:
    """Host and port without credentials; ValueError if it cannot be a host name."""
    name = authority.rpartition("@")[2]
    host, colon, port = name.partition(":")
    if name.startswith("["):
        return name
    name = host.removesuffix(".") + colon + port
    if len(name) > 259 or not _labels(name):
        raise ValueError(f"{host!r} cannot be the name of a host")
    return name


def _tidy_escapes(text: str) -> str:
    return _escape(lambda match: _tidy_escape(match[0]), text)


@cache  # there are 485 of them
def _tidy_escape(escape: str) -> str:
    if escape == "%":  # alone, it would make a new escape of what follows
        return "%25"
    char = chr(int(escape[1:], 16))
    return char if char in UNRESERVED else escape.upper()


def _tidy_query(query: str) -> str:
    if "%" in query:
        query = _tidy_escapes(query)
    pairs = [pair for pair in query.split("&") if pair and not _is_noise(pair)]
    pairs.sort(key=_name)  # stable: the order of a name's values may matter
    return "&".join(pairs)


def _name(pair: str) -> str:
    return pair.partition("=")[0]


def _is_noise(pair: str) -> bool:
    """Whether this parameter identifies a visitor and not a page."""
    name, _, value = pair.partition("=")
    name = name.lower()
    if name in NOISE or name.startswith(NOISE_PREFIXES):
        return True
    # A short number is the id of a story, not of a session.
    return name == "sid" and not _small_number(value)


def fingerprint(text: str | bytes) -> Fingerprint:
    """64 bits of XXH3 over a text (as UTF-8) or bytes, as a signed integer."""
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    value = xxh3_64_intdigest(text)
    return value if value < 1 << 63 else value - (1 << 64)


def host(url: str) -> str:
    """The host of a canonical URL, with its port when that is not the default."""
    return url.split("/", 3)[2]


def origin(url: str) -> str:
    """Scheme and host of a canonical URL: `http://ex.com:8080`."""
    return url[: url.index("/", 8)]


def is_home(url: str) -> bool:
    """Whether a canonical URL looks like that of the home page of its host: `/`,
    `/index.html`, `/en/`."""
    path = url[len(origin(url)) :]
    return bool(_HOME.fullmatch(path))


@lru_cache(maxsize=2**14)
def domain(host: str) -> str:
    """The registrable domain of a host: `ex.co.uk` of `www.ex.co.uk:8080`.

    An address is its own domain. So is a public suffix and a name without a dot. Of
    a name under an unknown suffix it is the last two labels.
    """
    name = without_port(host)
    if name.startswith("[") or name.rpartition(".")[2].isdecimal():
        return name
    found: str | None = _suffixes().privatesuffix(name)
    return found or name


def same_site(a: str, b: str) -> bool:
    """Whether two canonical URLs belong to one registrable domain."""
    return domain(host(a)) == domain(host(b))


def redact(url: str) -> str:
    """Any URL, also one without a scheme, without its user name and password."""
    return _credentials("", url, count=1)


def template(url: str) -> Fingerprint:
    """The fingerprint of a canonical URL without its numbers and parameter values.

    0 when it has neither digits after its host nor a query.
    """
    start = url.index("/", 8)
    path, _, query = url[start:].partition("?")
    shape, numbers = _shape(path)
    if query:
        names = [_name(pair) if "=" in pair else "" for pair in query.split("&")]
        shape += "?" + _shape("&".join(names))[0]
    return fingerprint(url[:start] + shape) if numbers or query else 0


def _shape(text: str) -> tuple[str, bool]:
    """A text with a zero for each number, and whether it has any."""
    if "%" in text:
        shape, numbers = _other_digits("0", text)
        return shape, numbers > 0
    shape = text.translate(_zeros)  # half the time of an expression
    while "00" in shape:
        shape = shape.replace("00", "0")
    return shape, "0" in shape


def without_port(host: str) -> str:
    """A host's name or address alone."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


@cache
def _suffixes() -> PublicSuffixList:
    # Imported here: few commands need it, and its list takes long to read. Most of that
    # time it would turn rules into punycode that are in ASCII already.
    from publicsuffixlist import PSLFILE, PublicSuffixList, encode_idn

    lines = Path(PSLFILE).read_text("utf-8").splitlines()
    rules = [
        line if line.isascii() else encode_idn(line)
        for line in lines
        if line[:2] != "//"
    ]
    # With its private part: alice.github.io is a site of its own.
    return PublicSuffixList(rules, accept_encoded_idn=False)
