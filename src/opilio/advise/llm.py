"""A second opinion from a language model behind an OpenAI-compatible endpoint.

Answers are cached with the crawl, so no question is paid for twice. Calls and tokens
have a budget. An endpoint that fails is left alone for a while, longer each time; pages
in the meantime are judged without an opinion.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from opilio.advise.keywords import keywords_of
from opilio.advise.llm_messages import (
    MOST_ANSWER,
    LlmAnswer,
    PageOnTrial,
    question,
    read_answer,
    read_completion,
    request_body,
)
from opilio.errors import FetchError, Transient, Unusable
from opilio.records import Clock, Response, Subject
from opilio.settings import LlmSettings

AT_ONCE = 4  # calls under way
MOST_WAITING = 16  # pages that wait for them; others go without
LONGEST_REST = 600.0  # seconds
BYTES_A_TOKEN = 3  # at least, in most texts; for budgets before the cost is known
REFUSED_PARAMETERS = (400, 422)

log = logging.getLogger(__name__)


class AnswerCache(Protocol):
    """Keeps answers with the crawl, and what was spent."""

    def find(self, key: str) -> LlmAnswer | None: ...

    def save(self, key: str, url: str, answer: LlmAnswer) -> None: ...

    def spent(self) -> tuple[int, int]:
        """Calls and tokens of all runs so far."""
        ...

    def spend(self, calls: int, tokens: int) -> None: ...


class LlmAdviser:
    """Asks a language model how relevant pages are."""

    name = "llm"

    def __init__(
        self,
        settings: LlmSettings,
        topic: str,
        subject: Subject,
        post: Callable[[bytes], Awaitable[Response]],
        close: Callable[[], Coroutine[Any, Any, None]],
        cache: AnswerCache,
        clock: Clock,
    ) -> None:
        self.settings = settings
        self.topic = topic
        self.post = post
        self.close = close
        self.cache = cache
        self.clock = clock
        self.places = asyncio.Semaphore(AT_ONCE)
        self.waiting = 0
        self.reserved = 0  # tokens of the calls under way
        self.failures = 0  # in a row
        self.rests_until = 0.0
        self.is_plain = False  # the endpoint refused optional parameters
        self.seek(subject)

    def seek(self, subject: Subject) -> None:
        """Ask about this subject from now on."""
        self.keywords = keywords_of(subject)

    async def opinion(self, url: str, title: str, text: str) -> float:
        """How relevant the model finds a page, from 0 to 1; raises FetchError."""
        asked = question(self.topic, self.keywords, PageOnTrial(url, title, text))
        key = self.key_of(asked)
        if known := self.cache.find(key):
            return known.relevance
        if self.waiting >= MOST_WAITING + AT_ONCE:
            raise Unusable("busy", f"{url}: too many pages wait for the language model")
        self.waiting += 1
        try:
            async with asyncio.timeout(self.settings.answer_within), self.places:
                answer = await self.ask(asked)
        except TimeoutError:
            raise self.failed(
                Transient("timeout", "the language model takes too long", after=0.0)
            ) from None
        except FetchError as error:
            raise self.failed(error) from None
        finally:
            self.waiting -= 1
        self.failures = 0
        self.cache.save(key, url, answer)
        return answer.relevance

    def key_of(self, asked: str) -> str:
        """The key of a question in the cache."""
        told = f"{self.settings.base_url}\n{self.settings.model}\n{asked}"
        return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()

    async def ask(self, asked: str) -> LlmAnswer:
        """Ask the endpoint, within the budget."""
        if self.clock() < self.rests_until:
            raise Unusable("resting", "the language model failed and is left alone")
        response = await self.call(asked)
        if response.status in REFUSED_PARAMETERS and not self.is_plain:
            self.is_plain = True  # newer models refuse temperature and max_tokens
            response = await self.call(asked)
        if not 200 <= response.status < 300:
            raise refusal(response)
        return read_answer(read_completion(response.body).choices[0].message.content)

    async def call(self, asked: str) -> Response:
        """Make one call and count what it costs."""
        body = request_body(self.settings.model, asked, plain=self.is_plain)
        expected = len(body) // BYTES_A_TOKEN + MOST_ANSWER
        self.require_budget(expected)
        self.reserved += expected
        self.cache.spend(1, 0)
        tokens = expected  # unless the endpoint says otherwise
        try:
            response = await self.post(body)
            if not 200 <= response.status < 300:
                tokens = 0
            elif told := read_completion(response.body).usage:
                tokens = told.total_tokens or expected
            return response
        finally:
            self.reserved -= expected
            self.cache.spend(0, tokens)

    def require_budget(self, tokens: int) -> None:
        """Raise Unusable if another call with so many tokens is too much."""
        calls, spent = self.cache.spent()
        limits = self.settings
        if limits.max_calls and calls >= limits.max_calls:
            raise Unusable(
                "budget",
                f"{calls:,} calls of the language model were made; the limit is "
                f"{limits.max_calls:,} (llm.max_calls)",
            )
        needed = spent + self.reserved + tokens
        if limits.max_tokens and needed > limits.max_tokens:
            raise Unusable(
                "budget",
                f"{spent:,} tokens of the language model were used; another call may "
                f"exceed the limit of {limits.max_tokens:,} (llm.max_tokens)",
            )

    def failed(self, error: FetchError) -> FetchError:
        """Let the endpoint rest after a failure; the first costs no rest, unless the
        endpoint asks for it."""
        if error.reason in ("budget", "resting"):
            return error
        self.failures += 1
        rest = 2.0 ** min(self.failures - 1, 16) if self.failures > 1 else 0.0
        if isinstance(error, Transient):
            rest = max(rest, error.after)
        until = self.clock() + min(rest, LONGEST_REST)
        self.rests_until = max(self.rests_until, until)
        return error


def refusal(response: Response) -> FetchError:
    """The error for a status that is no success."""
    status, where = response.status, response.url
    reason = f"http_{status}"
    if 300 <= status < 400:
        return Unusable(
            "redirect",
            f"{where} redirects elsewhere, where the key is not sent; name the final "
            "address (llm.base_url)",
        )
    if status in (401, 403):
        return Unusable(
            reason, f"{where} refuses the key (status {status}; llm.key_variable)"
        )
    if status == 429 or status >= 500:
        asked = response.header("retry-after")
        after = float(asked) if asked.isdecimal() and len(asked) < 9 else 1.0
        return Transient(reason, f"{where} answered {status}", after=after)
    return Unusable(
        reason, f"{where} answered {status}; check llm.base_url and llm.model"
    )
