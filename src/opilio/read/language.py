"""Finds the language that a page is written in.

The declared language counts first, then the script if it has only one language, then
the guess of py3langid, whose model is part of its package: nothing is downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

SAMPLE = 6000  # characters looked at to find the script of a text
READ = 1000  # characters that the model reads
FEWEST = 40  # characters; fewer are too few for the model
SURE = 0.5  # how probable a language must be

_tag = re.compile("([a-z]{2,3})(?:[-_].*)?", re.IGNORECASE | re.DOTALL).fullmatch
_words = re.compile(r"[^\W\d_]{2,}").findall
_letters = re.compile("[A-Za-z]").findall
_capitals = re.compile("[A-Z]").findall

# Scripts that nearly always mean one language; kana before Han, which Japanese shares.
_SCRIPTS = {
    "hi": "\u0900-\u097f",
    "bn": "\u0980-\u09ff",
    "pa": "\u0a00-\u0a7f",
    "gu": "\u0a80-\u0aff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",  # codespell:ignore te
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "th": "\u0e00-\u0e7f",
    "el": "\u0370-\u03ff",
    "hy": "\u0530-\u058f",
    "he": "\u0590-\u05ff",
    "ka": "\u10a0-\u10ff",
    "ko": "\u1100-\u11ff\uac00-\ud7af",
    "ja": "\u3040-\u30ff",
    "zh": "\u4e00-\u9fff",
}


@cache
def _by_script() -> dict[str, Callable[[str], list[str]]]:
    # Compiled when it is needed: most readers read ASCII first.
    return {
        language: re.compile(f"[{script}]").findall
        for language, script in _SCRIPTS.items()
    }


def language_of(declared: str, text: str) -> str:
    """The primary tag of a page's language in lower case; "" if it is unknown."""
    return language_of_tag(declared) or language_by_script(text) or by_model(text)


def language_of_tag(tag: str) -> str:
    """The primary part of a BCP 47 tag in lower case; "" if the tag is invalid."""
    match = _tag(tag.strip())
    return match[1].lower() if match else ""


def language_by_script(text: str) -> str:
    """The language of a text whose script has only one; "" for all others."""
    sample = text[:SAMPLE]
    if sample.isascii():
        return ""
    for language, characters in _by_script().items():
        if len(characters(sample)) > len(sample) / 5:
            return language
    return ""


def by_model(text: str) -> str:
    """The most probable language of a text; "" if it is short or none is probable."""
    # From the middle: the first words of a page are often a menu, the last a licence.
    middle = max(0, len(text) // 2 - SAMPLE // 2)
    sample = " ".join(_words(text[middle : middle + SAMPLE]))[:READ]
    if len(sample) < FEWEST:
        return ""
    try:
        label, score = _detector()(in_small_letters(sample))
    except Exception:  # the page is read all the same, without a language
        return ""
    return language_of_tag(label) if score >= SURE else ""


def in_small_letters(text: str) -> str:
    """A text in lower case, if it is in capitals, which the model knows badly."""
    letters = len(_letters(text))
    capitals = letters and len(_capitals(text)) > 0.8 * letters
    return text.lower() if capitals or text.isupper() else text


@cache
def _detector() -> Callable[[str], tuple[str, float]]:
    # Imported here: it takes 80 MB and half a second, and most pages do not need it.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    detect: Callable[[str], tuple[str, float]] = model.classify
    return detect
