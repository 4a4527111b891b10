"""Makes sentences, titles and anchors of synthetic pages in the words of topics."""

from __future__ import annotations

import random
import re
from array import array
from collections.abc import Sequence
from functools import cache

from opilio.errors import BadInput
from opilio.lab.synthetic import lexicon
from opilio.lab.synthetic.english import english_forms
from opilio.lab.synthetic.word_tables import TABLE, Form, table

POOL = 2048  # sentences of a topic


class TopicWords:
    """The words of every topic; the seed determines the invented ones.

    Webs in plain English have no invented words and no Hindi.
    """

    def __init__(self, seed: int, topics: int, english: bool = False) -> None:
        known = len(lexicon.TOPICS)
        if topics > known:
            raise BadInput(f"dial topics is {topics}; there are {known} to have")
        self.topics = tuple(lexicon.TOPICS)[:topics]
        self._seed = seed
        self._sentences: list[list[list[Form]]] = []  # by topic, then by language
        self._titles: list[list[list[Form]]] = []
        self._pool = cache(self._make_pool)
        if english:
            for topic in (*self.topics, ""):
                sentences, titles = english_forms(topic)
                self._sentences.append([sentences] * 2)
                self._titles.append([titles] * 2)
            return
        invented: set[str] = set()
        for topic in self.topics:
            rng = random.Random(f"{seed} {topic}")
            coined = coin(rng, 220, invented)
            described = [w + rng.choice(lexicon.ADJECTIVE_ENDINGS) for w in coined[:40]]
            terms = lexicon.TOPICS[topic]
            both = [
                topic_words(list(terms), coined, described),
                topic_words(list(terms.values()), coined, described, hindi=True),
            ]
            self._sentences.append([forms(lexicon.SENTENCES, text) for text, _ in both])
            self._titles.append([forms(lexicon.TITLES, title) for _, title in both])
        # After the last topic, number -1 is text about nothing in particular.
        self._sentences.append([forms(lexicon.SENTENCES, w) for w in plain_words()])
        self._titles.append([forms(lexicon.TITLES, w) for w in plain_words()])

    def title(self, topic: int, draw: int, hindi: bool = False) -> str:
        """A title that tells its topic; the same draw gives the same title.

        The topic -1 gives a title about nothing in particular.
        """
        shapes = self._titles[topic][hindi]
        form = shapes[draw % len(shapes)]
        picks = [
            table[(draw >> (8 + 12 * place)) % TABLE]
            for place, table in enumerate(form.tables)
        ]
        title = form.pattern % tuple(picks)
        if " a " in title:
            title = with_articles(title)
        return title[0].upper() + title[1:]

    def sentences(
        self,
        topic: int,
        count: int,
        rng: random.Random,
        *,
        noise: float = 0.0,
        hindi: bool = False,
        altered: bool = False,
    ) -> list[str]:
        """A number of sentences about a topic.

        `noise` is the share of them about something else; an altered text differs
        in one word of every eighth sentence and nowhere else.
        """
        strays = rng.randbytes(count)
        stray_topic = rng.randrange(len(self.topics))
        draws = array("H", rng.randbytes(2 * count))
        if altered:
            for place in range(0, count, 8):
                draws[place] ^= 1
        own = self._pool(topic, hindi)
        stray_to = (self._pool(stray_topic, hindi), self._pool(-1, hindi))
        limit = round(noise * 256)
        return [
            (own if stray >= limit else stray_to[stray & 1])[draw % POOL]
            for stray, draw in zip(strays, draws, strict=True)
        ]

    def _make_pool(self, topic: int, hindi: bool) -> list[str]:
        """Sentences ready for use, in pairs that differ in one word."""
        shapes = self._sentences[topic][hindi]
        chance = random.Random(f"{self._seed} sentences of {topic}").random
        pool: list[str] = []
        while len(pool) < POOL:
            pattern, tables = shapes[int(chance() * len(shapes))]
            first, *others = (table[int(chance() * TABLE)] for table in tables)
            instead = tables[0][int(chance() * TABLE)]
            if instead != first:
                pool += [pattern % (first, *others), pattern % (instead, *others)]
        pool = [sentence[0].upper() + sentence[1:] for sentence in pool]
        return with_articles("\n".join(pool)).split("\n")


Words = dict[str, list[str]]


def plain_words() -> list[Words]:
    """The tables of text about nothing in particular, in English and in Hindi."""
    rest = {
        "v": table((1, lexicon.VERBS.split())),
        "a": table((1, lexicon.ADJECTIVES.split())),
    }
    return [
        {"n": table((1, list(lexicon.NOUNS))), **rest},
        {"n": table((1, list(lexicon.NOUNS.values()))), **rest},
    ]


def topic_words(
    terms: list[str], coined: list[str], described: list[str], hindi: bool = False
) -> tuple[Words, Words]:
    """The tables for the sentences of a topic and those for its titles."""
    everyday = list(lexicon.NOUNS.values()) if hindi else list(lexicon.NOUNS)
    verbs = table((1, lexicon.VERBS.split()))
    adjectives = table((0.7, lexicon.ADJECTIVES.split()), (0.3, described))
    text = {
        "n": table((0.45, terms), (0.3, coined), (0.25, everyday)),
        "v": verbs,
        "a": adjectives,
    }
    title = {
        "n": table((0.8, terms), (0.2, coined)),
        "v": verbs,
        "a": adjectives,
    }
    return text, title


def forms(patterns: Sequence[str], words: Words) -> list[Form]:
    """Patterns with #n, #v and #a, joined with the tables their words come from."""
    return [
        Form(
            re.sub("#[nva]", "%s", pattern),
            tuple(words[slot] for slot in re.findall("#([nva])", pattern)),
        )
        for pattern in patterns
    ]


def coin(rng: random.Random, count: int, taken: set[str]) -> list[str]:
    """New pronounceable words that were not used before; each topic has its own
    sounds."""
    onsets = rng.sample(lexicon.ONSETS.split(), 12)
    vowels = rng.sample(lexicon.VOWELS.split(), 5)
    words: list[str] = []
    while len(words) < count:
        syllables = [
            rng.choice(onsets) + rng.choice(vowels) for _ in range(rng.randint(2, 3))
        ]
        word = "".join(syllables) + rng.choice(lexicon.CODAS)
        if word not in taken:
            taken.add(word)
            words.append(word)
    return words


def with_articles(text: str) -> str:
    """English text with `an` where a vowel follows."""
    for vowel in "aeio":
        text = text.replace(f" a {vowel}", f" an {vowel}")
        text = text.replace(f"A {vowel}", f"An {vowel}")
    return text
