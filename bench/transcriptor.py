"""Measures how many topic terms hidden by Hindi words the transcriptor recovers.

It compares pages of ../shared/webs/schools with the same pages of schools-mixed, whose
important words are in Hindi, using ../shared/data/hin-eng.tsv. Topic terms around links
are counted by the reader that crawls use: in the original, and in the mixed page
without and with the transcriptor. The context of a link is its anchor, 200 characters
on each side and the heading above; links are matched by their URL. Run it with `python
-m bench.transcriptor`.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bench.table import show
from opilio.read.html import PageReader
from opilio.records import LinkTerms, ReaderSetup, Response
from opilio.storage import warc_reading
from opilio.subject.page_reader import make_reader
from opilio.text.words import Vocabulary, tokens
from opilio.topic.dictionary import read_dictionary
from opilio.topic.word_lookup import Lookup

SHARED = Path(__file__).resolve().parents[2] / "shared"
WEBS = SHARED / "webs"
DICTIONARY = SHARED / "data/hin-eng.tsv"
HINDI = ("\u0900", "\u097f")
NO_TERMS = LinkTerms()

Terms = Counter[str]  # term's key -> times it occurs in the context of a link


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
        return {response.url: response for response in warc_reading.responses(file)}


def topics() -> dict[str, list[str]]:
    """The keywords of each topic."""
    return {
        path.stem: tomllib.loads(path.read_text())["keywords"]
        for path in sorted((WEBS / "schools/topics").glob("*.toml"))
    }


class Contexts:
    """Counts topic terms around the links of pages."""

    def __init__(self, terms: Iterable[str], words: Mapping[str, tuple[str, ...]]):
        dictionaries = {"hi": words} if words else {}
        self.reader: PageReader = make_reader(
            ReaderSetup(
                tuple(terms), "en", context=True, blocks=True, dictionaries=dictionaries
            )
        )
        self.heading = cache(self.count)

    def count(self, heading: str) -> Mapping[str, int]:
        return self.reader.lexicon.words(heading, "en").total().terms

    def of(self, response: Response) -> dict[str, Terms]:
        """URL of a link -> the terms in its context."""
        page = self.reader.read(response)
        found = {}
        for link in page.links:
            terms = link.terms or NO_TERMS
            heading = self.heading(page.blocks[link.block].heading)
            found[link.url] = Counter(terms.anchor.terms)
            found[link.url].update(terms.around.terms)
            found[link.url].update(heading)
        return found


def contexts(
    terms: Iterable[str], words: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[Terms, Terms, Terms]]:
    """For each link: the terms in the original, and without and with the dictionary."""
    plain, transcribing = Contexts(terms, {}), Contexts(terms, words)
    originals = pages(WEBS / "schools/pages.warc.gz")
    for url, response in pages(WEBS / "schools-mixed/mixed.warc.gz").items():
        was = plain.of(originals[url])
        is_left, comes_back = plain.of(response), transcribing.of(response)
        for link in is_left:
            yield was[link], is_left[link], comes_back[link]


def compare(was: Terms, is_left: Terms, comes_back: Terms) -> Tally:
    """The tally of one context for one topic."""
    right_with = (was & comes_back).total()
    hidden = bool(was) and not is_left
    return Tally(
        was.total(),
        is_left.total(),
        comes_back.total(),
        (was & is_left).total(),
        right_with,
        contexts=bool(was),
        hidden=hidden,
        found_again=hidden and right_with > 0,
        false=0 if was else max(comes_back.total() - is_left.total(), 0),
    )


def measure(words: Mapping[str, tuple[str, ...]]) -> dict[str, Tally]:
    """The tally of each topic over all links of all pages that differ, and of all."""
    wanted = topics()
    every = [word for keywords in wanted.values() for word in keywords]
    key = Vocabulary(every).key
    keys = {name: set(map(key, keywords)) for name, keywords in wanted.items()}
    tallies = {name: Tally() for name in (*wanted, "all")}
    for three in contexts(every, words):
        if not any(three):
            continue
        for name, own in keys.items():
            tally = compare(
                *(Counter({k: v for k, v in t.items() if k in own}) for t in three)
            )
            tallies[name] = tallies[name].plus(tally)
            tallies["all"] = tallies["all"].plus(tally)
    return tallies


def coverage(words: Mapping[str, tuple[str, ...]]) -> tuple[float, float, float]:
    """The share of Hindi words that the dictionary has: of all as they are, of all in
    any form, of different ones in any form."""
    counts: Counter[str] = Counter()
    for response in pages(WEBS / "schools-mixed/mixed.warc.gz").values():
        found = tokens(response.body.decode())
        counts.update(word for word in found if HINDI[0] <= word[0] <= HINDI[1])
    lookup = Lookup(words, "hi")
    known = {word for word in counts if lookup.word(word)}

    def share(some: Iterable[str]) -> float:
        return sum(counts[word] for word in some) / counts.total()

    return share(counts.keys() & words.keys()), share(known), len(known) / len(counts)


def main() -> None:
    """Measure and print, or say that the data is missing."""
    if not DICTIONARY.exists():
        sys.exit(f"{SHARED} is not there: nothing to measure")
    words = read_dictionary(DICTIONARY)
    show(
        "Topic terms around links: in the original, in the mixed page without and with "
        "the transcriptor;\nthose that are right; contexts",
        ["topic", "original", "without", "with", "right without", "right with",
         "won back", "contexts", "hidden", "found again", "false", "plain ratio"],
        [
            (name, *tally[:5], f"{tally.won_back:.1%}", *tally[5:],
             f"{tally.plain_ratio:.1%}")
            for name, tally in measure(words).items()
        ],
    )  # fmt: skip
    exact, known, different = coverage(words)
    print(
        f"\nof the Hindi words on these pages, the dictionary has {exact:.1%} as they"
    )
    print(f"are and {known:.1%} in any form; of the different ones {different:.1%}")


if __name__ == "__main__":
    main()
