"""Reads labels.tsv: the labels of each page of a web, and the pages of each label.

A row is a URL, a tab and a label; a page with several labels has several rows. Labels
form a tree by their dots: a page labelled Science.Chemistry is also one of Science.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from itertools import accumulate
from pathlib import Path

from opilio.errors import BadInput
from opilio.text.urls import canonical

NEAR = 3  # labels suggested for an unknown one


def read_labels(path: Path) -> Mapping[str, tuple[str, ...]]:
    """The labels of every page, by its canonical URL, in the order of the file."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path}, line {line}: save it as UTF-8") from None
    labels: dict[str, dict[str, None]] = {}
    for number, row in enumerate(text.split("\n"), 1):
        if row.strip():
            try:
                url, label = read_row(row)
            except ValueError as error:
                raise BadInput(f"{path}, line {number}: {error}") from None
            labels.setdefault(url, {})[label] = None
    return {url: tuple(own) for url, own in labels.items()}


def read_row(row: str) -> tuple[str, str]:
    """Canonical URL and label of a row; ValueError says what is wrong with it."""
    cells = [cell.strip() for cell in row.split("\t")]
    if len(cells) != 2 or not all(cells):
        raise ValueError("a row is a URL, a tab and a label")
    url, label = cells
    try:
        return canonical(url), label
    except ValueError:
        raise ValueError(f"{url!r} is not the URL of a web page") from None


def relevant_urls(
    labels: Mapping[str, Collection[str]], wanted: Collection[str]
) -> frozenset[str]:
    """The pages with a wanted label or one beneath it: L covers L and L.x, not Lx."""
    covered: dict[str, set[str]] = {}
    for url, own in labels.items():
        for label in own:
            for name in with_parents(label):
                covered.setdefault(name, set()).add(url)
    for label in wanted:
        if label not in covered:
            raise BadInput(
                f"no page has the label {label!r}{suggestion(label, covered)}"
            )
    return frozenset().union(*(covered[label] for label in wanted))


def with_parents(label: str) -> Iterator[str]:
    """A, A.B and A.B.C of A.B.C."""
    return accumulate(label.split("."), "{}.{}".format)


def suggestion(label: str, known: Collection[str]) -> str:
    """Labels that may have been meant, whole or by their last part."""
    spelt: dict[str, list[str]] = {}
    for name in sorted(known):
        for form in {name.casefold(), last_part(name)}:
            spelt.setdefault(form, []).append(name)
    forms = difflib.get_close_matches(label.casefold(), spelt, NEAR)
    forms += difflib.get_close_matches(last_part(label), spelt, NEAR)
    near = dict.fromkeys(name for form in forms for name in spelt[form])
    return f"; did you mean {' or '.join([*near][:NEAR])}?" if near else ""


def last_part(label: str) -> str:
    """The name of a label without those of its parents."""
    return label.rpartition(".")[2].casefold()
