"""Finds the dictionary forms of Hindi words.

Hindi words are spelt in several ways (हिन्दी, हिंदी) and inflected at the end: nouns by
number and case (ग्रह, ग्रहों), adjectives by gender (बड़ा, बड़ी), verbs by all of them.
A dictionary has the singular, the masculine and the infinitive in -ना.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SHORTEST = 2  # characters that must be left of a word

_SAME = str.maketrans(
    {"ँ": "ं", "़": None, "ः": None, "ॅ": None, "ऍ": "ए", "\u200c": None, "\u200d": None}
)
# A nasal before a consonant of its own row may be written as a dot.
_NASAL = re.compile("ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])")
_DOUBLED = re.compile("(?<=र्)([क-ह])्\\1|([क-ह])्\\2(?=्)")  # कर्त्तव्य, तत्त्व
_GLIDE = re.compile("(?<=[^्])य([ीे])(?=ं?$)")  # नयी, गये, भाषायें
_VOWELS = {"ी": "ई", "े": "ए"}
_LOOSE = str.maketrans("ीूईऊैौऐऔॉऑॊ", "िुइउेोएओााो", "ं")

_FUTURE = (
    *("ूंगा", "ूंगी", "ेगा", "ेगी", "ेंगे", "ेंगी", "ोगे", "ोगी", "िएगा"),
    *("ऊंगा", "ऊंगी", "एगा", "एगी", "एंगे", "एंगी", "ओगे", "ओगी", "इएगा"),
)

# Ending -> its possible replacements in a dictionary, the likeliest first. Longer
# endings come first; an ending that leaves too little of a word does not count.
ENDINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # nouns: plural, oblique
    ("ियों", ("ी", "ि", "िया", "")),
    ("ियां", ("ी", "ि", "िया")),
    ("ुओं", ("ु", "ू")),
    ("ुएं", ("ु", "ू")),
    ("ाओं", ("ा", "")),
    ("ाएं", ("ा", "", "ाना")),
    ("इयों", ("ई",)),
    ("इयां", ("ई",)),
    ("ओं", ("", "आ")),
    ("यों", ("य", "या", "")),
    ("ों", ("", "ा")),
    ("ें", ("", "ा", "ना")),
    # verbs: what will be (after a consonant, after a vowel), is wished, was
    *((ending, ("ना",)) for ending in _FUTURE),
    ("िए", ("ना", "िया")),
    ("इए", ("ना",)),
    ("ूं", ("ना", "ू")),
    ("ऊं", ("ना", "ऊ")),
    ("एं", ("य", "ना")),  # गाय, गायें
    ("ाया", ("ाना", "")),
    ("या", ("ना",)),
    ("ाई", ("ाना", "")),
    ("ाए", ("ाना", "ा")),
    ("ाते", ("ाना",)),
    ("तीं", ("ना",)),
    ("ीं", ("ना", "ी")),
    ("ईं", ("ना",)),
    ("ता", ("ना", "")),
    ("ते", ("ना", "ता")),
    ("ती", ("ना", "ता")),
    ("ने", ("ना",)),
    ("नी", ("ना",)),
    ("कर", ("ना", "")),
    # sciences have three names
    ("शास्त्र", ("विज्ञान", "विद्या")),
    ("विज्ञान", ("शास्त्र", "विद्या")),
    ("विद्या", ("शास्त्र", "विज्ञान")),
    # loan words: English plurals
    ("्स", ("",)),
    # adjectives, and what is made of nouns
    ("वाला", ("", "ना")),
    ("वाले", ("", "ना")),
    ("वाली", ("", "ना")),
    ("ीय", ("", "ा")),
    ("पन", ("", "ा")),
    ("ए", ("", "या", "ना")),
    ("ई", ("", "ा", "ना")),
    ("ओ", ("ना",)),
    ("े", ("ा", "", "ना")),
    ("ी", ("ा", "", "ना")),
    ("ा", ("", "ना")),
    ("ो", ("ना", "")),
)

# Words that turn the word before them into a verb or the name of a science: a
# dictionary may have that word only together with one of them (हमला करना, to attack;
# रसायन शास्त्र, chemistry).
COMPANY = frozenset(
    ["करना", "होना", "देना", "लेना", "जाना", "आना", "लगाना", "लगना", "रखना", "बनाना",
     "पाना", "डालना", "मारना", "उठाना", "खाना", "कराना", "संबंधी", "संबंधित", "विषयक",
     "वाला", "युक्त", "पूर्ण", "का", "की", "के", "में", "से", "शास्त्र", "विज्ञान", "विद्या"]
)  # fmt: skip


def fold(word: str) -> str:
    """One spelling for the usual ones of a word.

    >>> fold("हिन्दी") == fold("हिंदी")
    True
    """
    word = _NASAL.sub("ं", word.translate(_SAME))
    word = _DOUBLED.sub(r"\1\2", word).removesuffix("्")
    return _GLIDE.sub(lambda glide: _VOWELS[glide[1]], word)


def loosen(word: str) -> str:
    """The same, also for spellings that are strictly different."""
    return word.translate(_LOOSE)


def base_forms(word: str) -> Iterator[list[str]]:
    """The possible base forms of a folded word, by ending: तार or तारा for तारों."""
    for ending, replacements in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST:
            start = word[: len(word) - len(ending)]
            yield [start + replacement for replacement in replacements]
