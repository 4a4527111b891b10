"""Gives crawls of the lab a fixed number of true labels while they run, and no more.

A crawl runs in a process that knows no label. It asks this side, in the process that
does, over a local socket: one line with its ticket and a URL. The answer is a label as
long as the ticket has labels left. What was asked is counted here, so a crawl cannot
get more labels than its report says.
"""

from __future__ import annotations

import secrets
import shutil
import socket
import tempfile
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from threading import Lock, Thread
from types import TracebackType

import msgspec

from opilio.errors import OpilioError

PATIENCE = 60.0  # seconds for an answer
POLL = 0.02  # seconds between two looks whether the server is to end
RELEVANT, IRRELEVANT, REFUSED = b"relevant", b"irrelevant", b"refused"


class Ticket(msgspec.Struct, frozen=True):
    """The number of labels a crawl may ask for, and the address to ask."""

    address: str
    name: str
    labels: int

    def ask(self, url: str) -> bool:
        """Whether the page is relevant; uses up one of the labels."""
        with closing(socket.socket(socket.AF_UNIX)) as line:
            line.settimeout(PATIENCE)
            line.connect(self.address)
            line.sendall(f"{self.name} {url}\n".encode())
            answer = line.makefile("rb").readline().strip()
        if answer not in (RELEVANT, IRRELEVANT):
            raise OpilioError(
                f"the lab gives no label for {url}: all {self.labels} were given "
                "(--labels)"
            )
        return answer == RELEVANT


class Pupil:
    """A crawl that has a ticket, as the teacher knows it."""

    def __init__(self, relevant: Collection[str], labels: int) -> None:
        self.relevant = relevant
        self.left = labels
        self.told: dict[str, bool] = {}
        self.lock = Lock()

    def answer(self, url: str) -> bytes:
        """The label of a URL, as long as any are left; asking again is free."""
        with self.lock:
            if url not in self.told:
                if not self.left:
                    return REFUSED
                self.left -= 1
                self.told[url] = url in self.relevant
            return RELEVANT if self.told[url] else IRRELEVANT


class Questions(ThreadingUnixStreamServer):
    """Takes the questions of many crawls at a time."""

    daemon_threads = True
    request_queue_size = 128  # clients are refused when the queue is full


class Teacher:
    """Answers the questions of crawls, for `with`."""

    def __init__(self) -> None:
        self.pupils: dict[str, Pupil] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="opilio-labels-"))
        self.address = str(self.folder / "socket")
        pupils = self.pupils

        class Question(StreamRequestHandler):
            """One line with a ticket's name and a URL; one line with the label."""

            def handle(self) -> None:
                name, _, url = self.rfile.readline().decode().strip().partition(" ")
                pupil = pupils.get(name)
                answer = pupil.answer(url) if pupil else REFUSED
                self.wfile.write(answer + b"\n")

        self.server = Questions(self.address, Question)
        self.thread = Thread(
            target=self.server.serve_forever, args=(POLL,), daemon=True
        )

    def __enter__(self) -> Teacher:
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ticket(self, relevant: Collection[str], labels: int) -> Ticket:
        """A ticket for a crawl, good for so many labels."""
        name = secrets.token_hex(16)
        self.pupils[name] = Pupil(relevant, labels)
        return Ticket(self.address, name, labels)

    def collect(self, ticket: Ticket) -> dict[str, bool]:
        """Revoke a ticket; returns the labels given for it, in order."""
        return self.pupils.pop(ticket.name).told
