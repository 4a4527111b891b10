"""Builds the weight table of terms from the queries of people (Meenu et al., 3.1.1).

    W_i(new) = (1−α)·qf_i + α·W_i(old)        equation 3, 0 < α ≤ 0.5

Symbols: qf_i queries that contain term i, W_i(old) its weight in the previous table, 0
if it was not there. The paper rebuilds the table "after fixed interval of time"; we
understand that as: from the queries since the last time. So the table follows what
people ask for now, and the old weights represent all earlier queries.

We differ: words are joined to phrases by a list (the paper's "lok sabha" needs one);
all weights are kept and the threshold applies only to the result, since otherwise a
rising term would lose its past; terms that are not asked for any more decay (qf = 0).
Mode `paper` uses counts for qf, and the threshold 1.0 of the example. Mode `fixed` uses
the share of the queries, so that the threshold, 1/3 by default, means the same for few
queries and for many; if no term reaches it, the best ten are used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice

import msgspec

from opilio.errors import BadInput
from opilio.text.words import DEFAULT_LANGUAGE, stem, stop_words, tokens
from opilio.topic.query_log import LoggedQuery

THRESHOLDS = {"paper": 1.0, "fixed": 1 / 3}
SAME = 1e-9  # weights nearer than this are equal
FEWEST = 10  # terms used if none reaches the threshold of `fixed`
MOST = 100_000  # terms stored, those with the greatest weights

# The long list of `words.stop_words` is for pages. In short queries it would drop
# important words: new, group, numbers, world.
ENGLISH_STOP_WORDS = """
    a about all am an and any are as at be been but by can could d did do does for from
    had has have he her him his how i if in into is it its ll m me my no nor not of on
    or our re s shall she should so t than that the their them then there these they
    this those to too ve was we were what when where which who whom whose why will with
    would you your
"""


class QueryWeights(msgspec.Struct, frozen=True, kw_only=True):
    """The weights of all terms in the queries, and which of them count."""

    alpha: float = 0.5  # share of the old weight
    mode: str = "fixed"
    threshold: float | None = None  # None: the mode's own
    language: str = DEFAULT_LANGUAGE
    phrases: tuple[str, ...] = ()
    state: Mapping[str, float] = {}  # term's key -> weight, all of them
    forms: Mapping[str, str] = {}  # term's key -> how people write it
    queries: int = 0  # of the last build
    builds: int = 0

    def rebuilt(self, queries: Iterable[str | LoggedQuery]) -> QueryWeights:
        """The next table, from new queries; the same table if there are none."""
        frequency, forms, asked = count_queries(queries, self.language, self.phrases)
        if not asked:
            return self
        unit = 1 if self.mode == "paper" else asked
        share = {key: times / unit for key, times in frequency.items()}
        state = smoothed(share, self.state, self.alpha)
        state = dict(islice(sorted(state.items(), key=heaviest), MOST))
        known = {**self.forms, **forms}
        return msgspec.structs.replace(
            self,
            state=state,
            forms={key: known[key] for key in state},
            queries=asked,
            builds=self.builds + 1,
        )

    def by_key(self) -> dict[str, float]:
        """Step 8: the terms that count, by key, with the greatest weights first."""
        least = THRESHOLDS[self.mode] if self.threshold is None else self.threshold
        ordered = sorted(self.state.items(), key=heaviest)
        found = {key: weight for key, weight in ordered if weight >= least - SAME}
        if found or self.mode == "paper" or self.threshold is not None:
            return found
        return dict(ordered[:FEWEST])

    def weights(self) -> dict[str, float]:
        """The same, by terms as people write them."""
        return {self.forms[key]: weight for key, weight in self.by_key().items()}

    def dump(self) -> bytes:
        """The state to store across restarts, as JSON."""
        return msgspec.json.encode(self)

    def load(self, data: bytes) -> QueryWeights:
        """The dumped table under the settings of this one."""
        try:
            kept = msgspec.json.decode(data, type=QueryWeights)
        except msgspec.DecodeError as error:
            raise BadInput(f"the stored weight table cannot be read: {error}") from None
        return msgspec.structs.replace(
            self,
            state=kept.state,
            forms=kept.forms,
            queries=kept.queries,
            builds=kept.builds,
        )


class Phrases:
    """Finds given phrases in queries."""

    def __init__(self, phrases: Iterable[str], language: str) -> None:
        self.forms: dict[str, str] = {}  # key -> the phrase as it was given
        self.lengths: dict[str, list[int]] = {}  # first stem -> words, longest first
        for phrase in phrases:
            first, *rest = stem(tokens(phrase), language) or [""]
            if rest:
                self.forms[" ".join([first, *rest])] = " ".join(phrase.split())
                known = {*self.lengths.get(first, ()), len(rest) + 1}
                self.lengths[first] = sorted(known, reverse=True)

    def at(self, stems: Sequence[str], place: int) -> tuple[str, int]:
        """The longest phrase that begins here, or one word: its key and length."""
        for length in self.lengths.get(stems[place], ()):
            key = " ".join(stems[place : place + length])
            if key in self.forms:
                return key, length
        return stems[place], 1


def terms_of(query: str, language: str, phrases: Phrases) -> dict[str, str]:
    """The terms of one query, each once: key -> how it is written there."""
    words = tokens(query)  # step 2: tokenize
    stems = stem(words, language)  # step 4: normalize
    stop = query_stop_words(language)
    if phrases.lengths.keys().isdisjoint(stems):
        pairs = zip(stems, words, strict=True)
        return {key: word for key, word in pairs if word not in stop}
    terms: dict[str, str] = {}
    place = 0
    while place < len(words):
        key, length = phrases.at(stems, place)
        if length > 1:
            terms[key] = phrases.forms[key]
        elif words[place] not in stop:  # step 3: drop common words
            terms[key] = words[place]
        place += length
    return terms


def count_queries(
    queries: Iterable[str | LoggedQuery], language: str, phrases: Iterable[str]
) -> tuple[dict[str, int], dict[str, str], int]:
    """Steps 1 to 6: each key's query frequency and form, and how many queries."""
    known = Phrases(phrases, language)
    written: dict[tuple[str, str], int] = {}
    asked = 0
    for query in queries:  # step 1: access the queries
        text, times = (query, 1) if isinstance(query, str) else query
        terms = terms_of(text, language, known)
        for pair in terms.items():
            written[pair] = written.get(pair, 0) + times
        asked += times if terms else 0
    frequency: Counter[str] = Counter()
    forms = {}
    for (key, form), times in sorted(written.items(), key=rarest):
        frequency[key] += times  # step 6: merge, record the query frequency
        forms[key] = form  # the last is the most frequent
    return dict(sorted(frequency.items())), forms, asked  # step 5: sort


def smoothed(
    frequency: Mapping[str, float], old: Mapping[str, float], alpha: float
) -> dict[str, float]:
    """Step 7, equation 3: W(new) = (1−α)·qf + α·W(old), for all terms with either."""
    return {
        key: (1 - alpha) * frequency.get(key, 0) + alpha * old.get(key, 0)
        for key in frequency.keys() | old.keys()
    }


def normalised(weights: Mapping[str, float]) -> dict[str, float]:
    """Equation 2: W_i / W_max, so that tables of several sources compare."""
    most = max(weights.values(), default=0.0) or 1.0
    return {term: weight / most for term, weight in weights.items()}


def heaviest(item: tuple[str, float]) -> tuple[float, str]:
    """A sort key: by weight, the greatest first, then by name."""
    return -item[1], item[0]


def rarest(item: tuple[tuple[str, str], int]) -> tuple[int, int, str]:
    """A sort key: by count, the smallest first; ties with the shortest last."""
    (_, form), times = item
    return times, -len(form), form


@cache
def query_stop_words(language: str) -> frozenset[str]:
    """The stop words of queries."""
    if language == "en":
        return frozenset(ENGLISH_STOP_WORDS.split())
    return stop_words(language)
