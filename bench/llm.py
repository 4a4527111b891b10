"""Measures the judge `llm`: its questions, what they cost, and what answers are worth.

No language model is at hand, so a local HTTP server takes its role. It answers from the
labels of ../shared/webs/schools and is wrong about a given share of the pages. So the
figures say what questions cost Opilio, and what a model that is right so often would
bring; they say nothing about any model. Pages are judged once, in a shuffled order, as
in bench/semantic.py. Tokens are counted as four characters each.

Run it with `python -m bench.llm [--errors 0,10,20,30,50] [--relevant N]`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import multiprocessing
import statistics
import time
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import msgspec

from bench.judges import quality
from bench.semantic import MeasuredWeb, Task
from bench.table import show
from opilio.advise.llm import LlmAdviser
from opilio.advise.llm_messages import LlmAnswer
from opilio.fetch.llm_endpoint import LlmEndpoint
from opilio.judge import JUDGES
from opilio.read.main_content.extract import extract_content
from opilio.records import Extraction, Verdict
from opilio.settings import FetchSettings, LlmSettings

CHARACTERS_A_TOKEN = 4
YES, NO = 0.9, 0.1  # what the server answers


class LabelServer(BaseHTTPRequestHandler):
    """Answers questions about pages from labels, wrong about some."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    labels: Mapping[str, frozenset[str]] = {}

    def do_POST(self) -> None:
        """Answer one question; the model's name says how many percent are wrong."""
        body = self.rfile.read(int(self.headers["content-length"]))
        asked = json.loads(body)
        told = asked["messages"][-1]["content"].rpartition("\n")[0]
        question = json.loads(told)
        name, url = question["topic"]["name"], question["page"]["url"]
        is_right = chance_of(f"{name} {url}") >= int(asked["model"]) / 100
        is_relevant = (url in self.labels[name]) == is_right
        answer = {"relevance": YES if is_relevant else NO, "reason": "by its label"}
        content = json.dumps(answer)
        characters = sum(len(one["content"]) for one in asked["messages"])
        tokens = (characters + len(content)) // CHARACTERS_A_TOKEN
        made = json.dumps(
            {
                "choices": [{"message": {"role": "assistant", "content": content}}],
                "usage": {"total_tokens": tokens},
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(made)))
        self.end_headers()
        self.wfile.write(made)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def chance_of(text: str) -> float:
    """A number from 0 to 1 that depends on nothing but the text."""
    return (
        int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) / 2**32
    )


def serve(labels: Mapping[str, frozenset[str]], told: Connection) -> None:
    """Serve until the process is ended; tells its port."""
    LabelServer.labels = labels
    server = ThreadingHTTPServer(("127.0.0.1", 0), LabelServer)
    told.send(server.server_address[1])
    server.serve_forever()


class Answers:
    """Keeps no answers, and counts calls and tokens."""

    def __init__(self) -> None:
        self.calls = self.tokens = 0

    def find(self, key: str) -> LlmAnswer | None:
        """No answer is known."""
        return None

    def save(self, key: str, url: str, answer: LlmAnswer) -> None:
        """Forget it."""

    def spent(self) -> tuple[int, int]:
        """Calls and tokens so far."""
        return self.calls, self.tokens

    def spend(self, calls: int, tokens: int) -> None:
        """Count."""
        self.calls += calls
        self.tokens += tokens


class Asked(NamedTuple):
    """How good a judge is on a topic, and what its questions cost."""

    average_precision: float
    f1: float
    pages: int
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0  # that questions took
    cpu: float = 0.0  # of this process


class Texts:
    """The main texts of pages, extracted once."""

    def __init__(self, web: MeasuredWeb) -> None:
        self.web = web
        self.known: dict[int, Extraction] = {}

    def of(self, number: int) -> Extraction:
        """The main text of a page."""
        if number not in self.known:
            self.known[number] = extract_content(self.web.responses[number])
        return self.known[number]


async def measure(texts: Texts, task: Task, port: int, errors: int) -> Asked:
    """Judge the pages of a task; with `errors` in percent, or -1: by no model."""
    judge = JUDGES["opilio" if errors < 0 else "llm"](task.subject)
    spent, settings = (
        Answers(),
        LlmSettings(
            base_url=f"http://127.0.0.1:{port}/v1",
            model=str(errors),
            key_variable="",
            local=True,
            max_calls=0,
            max_tokens=0,
        ),
    )
    endpoint = LlmEndpoint(settings, FetchSettings(), {})
    adviser = LlmAdviser(
        settings,
        task.name,
        task.subject,
        endpoint.post,
        endpoint.close,
        spent,
        time.monotonic,
    )
    verdicts: dict[int, Verdict] = {}
    seconds = cpu = 0.0
    for number in task.pages:
        page = texts.web.pages[number]
        if errors >= 0 and judge.doubts(page):
            found = texts.of(number)
            began, used = time.monotonic(), time.process_time()
            opinion = await adviser.opinion(page.url, found.title, found.text)
            seconds += time.monotonic() - began
            cpu += time.process_time() - used
            page = msgspec.structs.replace(page, opinion=opinion)
        verdicts[number] = judge.judge(page)
    await adviser.close()
    good = quality(verdicts, task.relevant)
    return Asked(
        good.average_precision, good.f1, len(task.pages), *spent.spent(), seconds, cpu
    )


def report(rows: Mapping[int, Sequence[Asked]]) -> None:
    """Print what was measured."""
    lines = []
    for errors, of in rows.items():
        pages, calls = sum(one.pages for one in of), sum(one.calls for one in of)
        lines.append(
            (
                "default judge alone" if errors < 0 else f"{errors} % wrong",
                f"{statistics.mean(one.average_precision for one in of):.3f}",
                f"{statistics.mean(one.f1 for one in of):.3f}",
                f"{calls / pages:.2f}",
                f"{sum(one.tokens for one in of) / max(calls, 1):.0f}",
                f"{sum(one.tokens for one in of) / pages:.0f}",
                f"{1000 * sum(one.cpu for one in of) / max(calls, 1):.1f}",
                f"{1000 * sum(one.seconds for one in of) / max(calls, 1):.1f}",
            )
        )
    header = (
        *("answers", "average precision", "F1", "calls a page", "tokens a call"),
        *("tokens a page", "CPU ms a call", "ms a call"),
    )
    show("Second opinions by a server that knows the labels", header, lines)


async def run(
    texts: Texts, tasks: Sequence[Task], port: int, errors: list[int]
) -> None:
    """Measure all and print the table."""
    rows: dict[int, list[Asked]] = {}
    for share in (-1, *errors):
        rows[share] = [await measure(texts, task, port, share) for task in tasks]
    report(rows)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--errors", default="0,10,20,30,50")
    parser.add_argument("--relevant", type=int, default=200, metavar="N")
    parser.add_argument("--every", type=int, default=1000, metavar="N")
    given = parser.parse_args()
    web = MeasuredWeb("schools", given.relevant, given.every)
    tasks = list(web.tasks())
    labels = {
        task.name: frozenset(web.pages[n].url for n in task.relevant) for task in tasks
    }
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(labels, there), daemon=True
    )
    process.start()
    errors = list(map(int, given.errors.split(",")))
    asyncio.run(run(Texts(web), tasks, here.recv(), errors))
    process.terminate()


if __name__ == "__main__":
    main()
