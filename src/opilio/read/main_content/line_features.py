"""Describes the text of one block in numbers: its length, its marks, what it says."""

from __future__ import annotations

import re
from functools import lru_cache

SHORT = 160  # characters of a line that may be no sentence

# Lines that say what they are.
CUES = {
    "date": r"\b(?:19|20)\d\d\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\bago\b|\bvor \d",
    "by": r"^(?:written |posted |reviewed |edited |words )?"
    r"(?:by|von|par|por|di|author)\b",
    "more": r"^(?:(?:read|learn|see|show|view|load|find out|discover|weiter|mehr|lire|"
    r"leer)\b|more|continue|»|→)",
    "share": r"\b(?:share|tweet|follow us|follow|teilen|partager|compartir|print|email|"
    r"copy link|whatsapp|facebook|twitter|linkedin|pinterest|instagram)\b",
    "subscribe": r"\b(?:subscribe|newsletter|sign ?up|inbox|join|register|log ?in|"
    r"sign in|anmelden|abonnieren|abonnez|suscríb)",
    "comment": r"\b(?:comments?|repl(?:y|ies)|kommentare?|commentaires?|"
    r"comentarios?)\b",
    "related": r"\b(?:related|recommended|you (?:may|might)|also like|read next|"
    r"popular|trending|latest|more from|similar|auch interessant|mehr zum thema|"
    r"lire aussi|recent|see also|customers)\b",
    "legal": r"©|\(c\)|\b(?:copyright|all rights reserved|privacy|terms|cookies?|"
    r"imprint|impressum|datenschutz)\b",
    "tags": r"^(?:tags?|filed under|categor(?:y|ies)|topics?|posted in|labels?|"
    r"schlagw|themen|mots)",
    "photo": r"\b(?:photo|image|picture|foto|bild|credit|getty|reuters|shutterstock|"
    r"source|courtesy|afp|unsplash)\b",
    "ad": r"\b(?:advertisement|anzeige|sponsored|werbung|publicité|publicidad|"
    r"promoted|affiliate)\b",
    "count": r"^\W*\d[\d.,]*\s*(?:k|m)?\s*(?:min|views?|likes?|shares?|comments?|"
    r"votes?|stars?|reviews?|points?|answers?)?\b.{0,12}$",
    "price": r"[$€£¥]\s?\d|\d\s?(?:€|usd|eur)",
    "jump": r"^(?:home|menu|search|next|previous|prev|back|top|skip|close|contents|"
    r"table of contents|toggle|cancel|ok|submit|edit|reply|quote|report|help)\b",
    "question": r"\?$",
}
NO_CUES = (False,) * len(CUES)
# How a word of a line begins that gives these cues; looking for it is much faster than
# their patterns.
BEGINNINGS = {
    "share": "sha twe fol tei par com pri ema cop wha fac twi lin pin ins",
    "subscribe": "sub new sig inb joi reg log anm abo sus",
    "comment": "com rep kom",
    "related": "rel rec you als rea pop tre "  # codespell:ignore
    "lat mor sim auc meh lir see cus",  # codespell:ignore
    "legal": "cop all pri ter coo imp dat",  # codespell:ignore
    "photo": "pho ima pic fot bil cre get reu shu sou cou afp uns",  # codespell:ignore
    "ad": "adv anz spo wer pub pro aff",
}
PLACES = {cue: place for place, cue in enumerate(CUES)}
_words = re.compile(r"\w+").findall
_is_digit = re.compile(r"\d").search
_by_word = [
    (PLACES[cue], frozenset(begins.split()), re.compile(CUES[cue]).search)
    for cue, begins in BEGINNINGS.items()
]
_any_beginning = frozenset().union(*(begins for _, begins, _ in _by_word))
_by_first_word = [
    (PLACES[cue], re.compile(CUES[cue]).match) for cue in ("by", "more", "tags", "jump")
]
_by_digit = [
    (PLACES[cue], re.compile(CUES[cue]).search) for cue in ("date", "count", "price")
]
_ago = re.compile(r"\bago\b").search


def cues_of(text: str) -> tuple[bool, ...]:
    """What a line says of itself; a long one is no such line."""
    return short_cues(text) if len(text) <= SHORT else NO_CUES


@lru_cache(maxsize=2**12)  # the pages of a site share many lines
def short_cues(text: str) -> tuple[bool, ...]:
    """What a short line says of itself."""
    text = text.lower()  # faster than patterns that ignore case
    found = list(NO_CUES)
    begins = {word[:3] for word in _words(text)}
    if not _any_beginning.isdisjoint(begins):
        for place, needed, says in _by_word:
            found[place] = not needed.isdisjoint(begins) and says(text) is not None
    for place, says in _by_first_word:
        found[place] = says(text) is not None
    if _is_digit(text):
        for place, says in _by_digit:
            found[place] = says(text) is not None
    elif "ago" in begins:
        found[PLACES["date"]] = _ago(text) is not None
    if "©" in text or "(c)" in text:
        found[PLACES["legal"]] = True
    found[PLACES["question"]] = text.removesuffix("\n").endswith("?")
    return tuple(found)


def heading_level(tag: str) -> int:
    """1 to 6 for a heading, else 0."""
    return int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456" else 0
