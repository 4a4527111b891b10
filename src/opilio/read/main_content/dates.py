"""Reads dates in the forms and languages in which pages write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

FIRST_YEAR = 1995

_months = {}
for _number, _names in enumerate(
    (
        "january januar janvier enero gennaio janeiro januari jan ene gen",
        "february februar février fevrier febrero febbraio fevereiro februari feb fév "
        "fev",
        "march märz maerz mars marzo março maart mar mär mrz",
        "april avril abril aprile apr abr avr",
        "may mai mayo maggio maio mei mag",
        "june juni juin junio giugno junho jun giu",
        "july juli juillet julio luglio julho jul lug juil",
        "august août aout agosto augustus aug ago aoû",
        "september septembre septiembre settembre setembro sept sep set",
        "october oktober octobre octubre ottobre outubro oct okt ott out",
        "november novembre noviembre novembro nov",
        "december dezember décembre decembre diciembre dicembre dezembro dec dez dic "
        "déc",
    ),
    1,
):
    _months.update(dict.fromkeys(_names.split(), _number))
_name = "|".join(sorted(_months, key=len, reverse=True))
_year = r"(?P<y>(?:19|20)\d\d)"
_any_year = re.compile(r"(?:19|20)\d\d").search
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_year}[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?!\d)",
        rf"\b(?P<n>{_name})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_year}\b",
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.|er|º)?(?:\s+of|\s+de)?[\s-]+"
        rf"(?P<n>{_name})\.?,?(?:\s+de)?[\s-]+{_year}\b",
        rf"(?<!\d)(?P<d>\d{{1,2}})\.\s?(?P<m>\d{{1,2}})\.\s?{_year}(?!\d)",
        rf"(?<!\d)(?P<m>\d{{1,2}})/(?P<d>\d{{1,2}})/{_year}(?!\d)",
        r"(?<![\d/])(?P<y>20[012]\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\d)",
    )
)
_in_url = re.compile(
    rf"[/_-]{_year}(?:(?P<cut>[/_-])(?P<m>0?[1-9]|1[0-2])(?P=cut)(?P<d>0?[1-9]|[12]\d|"
    r"3[01])|(?P<mm>0[1-9]|1[0-2])(?P<dd>0[1-9]|[12]\d|3[01]))(?!\d)"
).search


def parse_date(text: str, latest: date) -> str:
    """The first date in a text, as YYYY-MM-DD; "": there is none up to `latest`."""
    return next(dates_in(text, latest), "")


def dates_in(text: str, latest: date) -> Iterator[str]:
    """The plausible dates in a text, by how sure their form is."""
    if not _any_year(text):
        return
    for pattern in _PATTERNS:
        for found in pattern.finditer(text):
            given = found.groupdict()
            month = _months[given["n"].lower()] if given.get("n") else int(given["m"])
            day, year = int(given["d"]), int(given["y"])
            if month > 12 >= day and not given.get("n"):
                month, day = day, month
            try:
                when = date(year, month, day)
            except ValueError:
                continue
            if year >= FIRST_YEAR and when <= latest + timedelta(days=1):
                yield when.isoformat()


def date_in_url(url: str, latest: date) -> str:
    """The date in the path of a URL, such as /2024/05/17/; "": none."""
    found = _in_url(url)
    if not found:
        return ""
    month, day = found["m"] or found["mm"], found["d"] or found["dd"]
    return parse_date(f"{found['y']}-{month}-{day}", latest)


def first_date(texts: Iterable[str], latest: date) -> str:
    """The date in the first of the texts that has one."""
    return next((when for text in texts if (when := parse_date(text, latest))), "")
