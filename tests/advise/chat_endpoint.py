"""A chat endpoint on loopback, in the role of a language model, with faults."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple

from opilio.advise.llm_messages import REMINDER

KEY = "sk-secret-1234567890"


class Asked(NamedTuple):
    """A request that the endpoint got."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def question(self) -> dict[str, Any]:
        """The object with topic and page in the user's message."""
        told = self.message["messages"][1]["content"]
        assert told.endswith(REMINDER)
        return json.loads(told.removesuffix(REMINDER))


class Reply(NamedTuple):
    """What the endpoint answers."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})


def said(content: str, tokens: int = 100) -> Reply:
    """The answer of a model with this content."""
    choices = [{"index": 0, "message": {"role": "assistant", "content": content}}]
    usage = {"total_tokens": tokens}
    return Reply(json.dumps({"choices": choices, "usage": usage}).encode())


def graded(relevance: float, reason: str = "because") -> Reply:
    """The answer of a model that does as it is told."""
    return said(json.dumps({"relevance": relevance, "reason": reason}))


class Endpoint(NamedTuple):
    """A running endpoint."""

    base_url: str
    asked: list[Asked]

    def settings(self, more: str = "") -> str:
        """The section [llm] that names it."""
        return (
            f"\n[llm]\nbase_url = '{self.base_url}'\nmodel = 'small'\n"
            f"key_variable = 'TEST_LLM_KEY'\nlocal = true\n{more}\n"
        )


@contextmanager
def serving_chat(answer: Callable[[Asked], Reply]) -> Iterator[Endpoint]:
    """An endpoint that gives these answers."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked.append(Asked(self.path, headers, self.rfile.read(length)))
            reply = answer(asked[-1])
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield Endpoint(f"http://127.0.0.1:{server.server_port}/v1", asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
