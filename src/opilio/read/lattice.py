"""Text with words of other languages in; its words in the topic's language out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Transcribe(Protocol):
    """Says what words of other languages mean in the topic's."""

    def reads(self, word: str, language: str) -> bool:
        """Whether there is a dictionary for this word of a text in this language.

        That depends on the script of the word and on the language alone.
        """
        ...

    def run(self, words: Sequence[str], language: str) -> list[tuple[str, ...]]:
        """The meanings of each of some consecutive words that it reads.

        Unknown words mean themselves. None: a noise word, or part of a phrase whose
        meaning stands at its first word.
        """
        ...
