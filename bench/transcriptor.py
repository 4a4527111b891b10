"""How much of what Hindi words hide from link contexts the transcriptor wins back.

Pages of ../shared/webs/schools, the same pages of schools-mixed, whose important words
are in Hindi, and ../shared/data/hin-eng.tsv in; topic terms found around their links
out: in the original, in the mixed page without and with the transcriptor. Links are
matched by their URL. Run it with `python -m bench.transcriptor`.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from bench.table import show
from opilio import archive
from opilio.read.html import PageReader
from opilio.topic.dictionary import read_dictionary
from opilio.topic.transcriptor import Transcriptor
from opilio.types import Link, Page, Response
from opilio.words import Vocabulary, stem, tokens

SHARED = Path(__file__).resolve().parents[2] / "shared"
WEBS = SHARED / "webs"
DICTIONARY = SHARED / "data/hin-eng.tsv"
HINDI = ("\u0900", "\u097f")

Lattice = Sequence[Sequence[Sequence[str]]]  # at each place, meanings as their stems


class Tally(NamedTuple):
    """Topic terms found around links.

    `right` are those of them that the original context has as well: of each term at
    most as many as there.
    """

    original: int = 0
    without: int = 0
    with_it: int = 0
    right_without: int = 0
    right_with: int = 0
    contexts: int = 0  # that had a term in the original
    hidden: int = 0  # of these, without any in the mixed page
    found_again: int = 0  # of these, with a right one by the transcriptor
    false: int = 0  # terms that only the transcriptor sees, where there was none

    def plus(self, other: Tally) -> Tally:
        return Tally(*map(sum, zip(self, other, strict=True)))

    @property
    def won_back(self) -> float:
        lost = self.original - self.right_without
        return (self.right_with - self.right_without) / (lost or 1)

    @property
    def plain_ratio(self) -> float:
        return (self.with_it - self.without) / ((self.original - self.without) or 1)


def pages(path: Path) -> dict[str, Response]:
    """URL -> its last record in a WARC file."""
    with path.open("rb") as file:
        return {response.url: response for response in archive.responses(file)}


def context(page: Page, link: Link) -> str:
    """The anchor of a link, the words around it, the heading above it."""
    heading = page.blocks[link.block].heading if page.blocks else ""
    return " | ".join((heading, link.before, link.anchor, link.after))


def plain(words: Sequence[str]) -> Lattice:
    """Words that mean themselves."""
    return [[[one]] for one in stem(words)]


def transcribed(words: Sequence[str], transcriptor: Transcriptor) -> Lattice:
    """Words with the meanings of the foreign ones in their place."""
    found: list[Sequence[Sequence[str]]] = []
    for foreign, group in groupby(words, lambda word: transcriptor.reads(word, "")):
        run = list(group)
        if foreign:
            meanings = transcriptor.run(run, "")
            found += [[stems_of(one) for one in given] for given in meanings if given]
        else:
            found += plain(run)
    return found


@cache
def stems_of(meaning: str) -> list[str]:
    return stem(tokens(meaning))


def occurrences(term: Sequence[str], lattice: Lattice) -> int:
    """At how many places a term begins, whichever meanings are taken."""

    def goes_on(rest: Sequence[str], place: int) -> bool:
        if not rest:
            return True
        return place < len(lattice) and any(
            given[: len(rest)] == rest[: len(given)]
            and goes_on(rest[len(given) :], place + 1)
            for given in lattice[place]
        )

    def begins(given: Sequence[str], place: int) -> bool:
        return term[0] in given and any(
            given[at : at + len(term)] == term[: len(given) - at]
            and goes_on(term[len(given) - at :], place + 1)
            for at in range(len(given))
        )

    return sum(
        any(begins(given, place) for given in meanings)
        for place, meanings in enumerate(lattice)
    )


def topics() -> Iterator[tuple[str, list[list[str]]]]:
    """Each topic with the stems of its keywords."""
    for path in sorted((WEBS / "schools/topics").glob("*.toml")):
        keywords = tomllib.loads(path.read_text())["keywords"]
        yield path.stem, [stem(tokens(word)) for word in keywords]


def compare(
    terms: Sequence[Sequence[str]],
    original: Lattice,
    without: Lattice,
    with_it: Lattice,
) -> Tally:
    """What one context gives for one topic."""
    was, is_left, comes_back = (
        [occurrences(term, lattice) for term in terms]
        for lattice in (original, without, with_it)
    )
    right_without = sum(map(min, was, is_left))
    right_with = sum(map(min, was, comes_back))
    hidden = any(was) and not any(is_left)
    return Tally(
        sum(was),
        sum(is_left),
        sum(comes_back),
        right_without,
        right_with,
        contexts=any(was),
        hidden=hidden,
        found_again=hidden and right_with > 0,
        false=0 if any(was) else max(sum(comes_back) - sum(is_left), 0),
    )


def contexts() -> Iterator[tuple[list[str], list[str]]]:
    """The words around each link, in the original and in the mixed page."""
    reader = PageReader(Vocabulary([]), context=True)
    originals = pages(WEBS / "schools/pages.warc.gz")
    for url, response in pages(WEBS / "schools-mixed/mixed.warc.gz").items():
        before, after = map(reader.read, (originals[url], response))
        links = {link.url: link for link in before.links}
        for link in after.links:
            original = context(before, links[link.url])
            yield tokens(original), tokens(context(after, link))


def measure(
    transcriptor: Transcriptor, found: Iterable[tuple[list[str], list[str]]]
) -> dict[str, Tally]:
    """The tally of each topic over all links of all pages that differ."""
    wanted = list(topics())
    every = {one for _, terms in wanted for term in terms for one in term}
    tallies = {name: Tally() for name, _ in wanted}
    for original_words, words in found:
        original, without = plain(original_words), plain(words)
        with_it = transcribed(words, transcriptor)
        lattices = chain(original, without, with_it)
        if every.isdisjoint(one for given in chain(*lattices) for one in given):
            continue
        for name, terms in wanted:
            tally = compare(terms, original, without, with_it)
            tallies[name] = tallies[name].plus(tally)
    return tallies


def coverage(transcriptor: Transcriptor) -> tuple[float, float]:
    """The share of Hindi words that the dictionary has: of all, of different ones."""
    counts: Counter[str] = Counter()
    for response in pages(WEBS / "schools-mixed/mixed.warc.gz").values():
        words = tokens(response.body.decode())
        counts.update(word for word in words if HINDI[0] <= word[0] <= HINDI[1])
    lookup = transcriptor.lookups["hi"]
    known = {word for word in counts if lookup.word(word)}
    all_known = sum(counts[word] for word in known)
    return all_known / counts.total(), len(known) / len(counts)


def main() -> None:
    """Measure and print; says so where there is nothing to measure."""
    if not DICTIONARY.exists():
        sys.exit(f"{SHARED} is not there: nothing to measure")
    transcriptor = Transcriptor({"hi": read_dictionary(DICTIONARY)})
    tallies = measure(transcriptor, contexts())
    total = Tally()
    for tally in tallies.values():
        total = total.plus(tally)
    show(
        "Topic terms around links: in the original, in the mixed page without and with "
        "the transcriptor;\nthose that are right; contexts",
        ["topic", "original", "without", "with", "right without", "right with",
         "won back", "contexts", "hidden", "found again", "false", "plain ratio"],
        [
            (name, *tally[:5], f"{tally.won_back:.1%}", *tally[5:],
             f"{tally.plain_ratio:.1%}")
            for name, tally in [*tallies.items(), ("all", total)]
        ],
    )  # fmt: skip
    words, different = coverage(transcriptor)
    print(f"\nin the dictionary in any form: {words:.1%} of the Hindi words on these")
    print(f"pages, {different:.1%} of the different ones")


if __name__ == "__main__":
    main()
