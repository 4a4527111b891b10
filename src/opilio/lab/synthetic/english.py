"""Sentences and titles in plain English about a dozen subjects, for the demo."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opilio.errors import BadInput
from opilio.lab.synthetic.english_words import SENTENCES, SUBJECTS, TITLES
from opilio.lab.synthetic.word_tables import Form, table

SLOT = re.compile(r"\{(\w+)\}")


def english_forms(topic: str) -> tuple[list[Form], list[Form]]:
    """The sentences of a subject and its titles; "" is everyday life."""
    if topic not in SUBJECTS:
        known = ", ".join(filter(None, SUBJECTS))
        raise BadInput(f"there are no English pages about {topic}, only {known}")
    words = {
        kind: table((1, [word.strip() for word in text.split(",")]))
        for kind, text in SUBJECTS[topic].items()
    }
    return forms(SENTENCES, words), forms(TITLES, words)


def forms(patterns: Sequence[str], words: dict[str, list[str]]) -> list[Form]:
    """Patterns with the tables that their words come from."""
    return [
        Form(
            SLOT.sub("%s", pattern),
            tuple(words[kind] for kind in SLOT.findall(pattern)),
        )
        for pattern in patterns
    ]
