"""A second opinion from a sentence model: how similar a page is to the topic.

    s = ⅔·(mean of the two best cos(x, kᵢ)) + ⅓·cos(x, k)

Symbols: x the vector of the page's title and the beginning of its main text, kᵢ that of
a keyword, k that of all keywords as one text. What is much and what is little of s
differs between models and topics, so the judge calibrates it (`judge/opinions.py`).
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from opilio.advise.keywords import keywords_of
from opilio.errors import BadInput, Unusable
from opilio.records import Subject
from opilio.vectors.sentence_model import SentenceModel, Vector, find_model

LONGEST = 4000  # characters of a text: more than the model reads
BEST = 2  # keywords that count


class EmbeddingAdviser:
    """Compares pages with keywords, one after another, in a thread of its own."""

    name = "embedding"

    def __init__(self, model: SentenceModel, subject: Subject) -> None:
        self.model = model
        self.thread = ThreadPoolExecutor(1, "opilio-embedding")
        self.known: tuple[list[str], Vector] | None = None  # keywords and their vectors
        self.seek(subject)

    def seek(self, subject: Subject) -> None:
        """Compare with the keywords of this subject from now on."""
        self.keywords = keywords_of(subject)

    async def opinion(self, url: str, title: str, text: str) -> float:
        """The similarity of a page to the keywords; Unusable if there is none."""
        if not title and not text:
            raise Unusable("no_text", f"{url} has no text to compare")
        told = told_of(title, text)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.thread, self.similarity, url, told)

    def similarity(self, url: str, text: str) -> float:
        """s, computed in the thread."""
        try:
            cosines = self.sought() @ self.model.vector(text)
        except BadInput as error:
            raise Unusable("model", f"{url}: {error}") from None
        best = np.sort(cosines[:-1])[-BEST:]
        return float(2 * best.mean() + cosines[-1]) / 3

    def sought(self) -> Vector:
        """The vectors of the keywords, and of all of them as one text."""
        keywords = self.keywords  # which may change meanwhile
        if self.known is None or self.known[0] is not keywords:
            every = (*keywords, ", ".join(keywords))
            vectors = np.array([self.model.vector(one) for one in every])
            self.known = (keywords, vectors)
        return self.known[1]

    async def close(self) -> None:
        """End the thread."""
        self.thread.shutdown(wait=False, cancel_futures=True)


def told_of(title: str, text: str) -> str:
    """What the model reads of a page."""
    return f"{title}. {text[:LONGEST]}"


def load_model(path: str) -> SentenceModel:
    """The model at a path, which was tried out; BadInput names file and remedy."""
    if not path:
        raise BadInput(
            "the judge 'embedding' needs a sentence model; name its file: "
            "--embedding-model PATH, or model = 'PATH' in the section [embedding] of "
            "the settings"
        )
    model = SentenceModel(find_model(Path(path)))
    model.check()
    return model
