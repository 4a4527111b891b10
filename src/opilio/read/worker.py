"""The main loop of a reader process: reads responses from a socket, answers with pages.

A frame is its length in four bytes, then msgpack. The first one in is the Task; when
the job is made, an empty frame says so; after that each response is answered in turn.
Between them come links that need not be reported again (`settled_links.py`).
Answers go back several at a time while more pages wait: where loop and reader share a
core, each of them then does the same thing for longer, which caches reward by a sixth
of the CPU of a crawl.
"""

from __future__ import annotations

import gc
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import msgspec

from opilio.records import Reading, Response
from opilio.text.document_kinds import is_pdf

Job = Callable[[Response], Reading]
"""May have a method `settle`, which takes settled links, as SettledLinks.learn, and a
method `extract`, which is called in its place for each Extract."""

Extract = tuple[Response]
"""Asks for the main text of a response, not for its page."""

LENGTH = struct.Struct("<I")
READY = LENGTH.pack(0)
TEXT_DEADLINE = 5.0  # seconds of CPU to extract a text, which others wait for
HEAVY = 1.0  # seconds of CPU for one page; most take some milliseconds
MOST_HELD = 2**18  # bytes of answers
LONGEST_HELD = 0.02  # seconds; the next page may take long
# Bytes that reading may take beyond what the process started with. A page of 10 MiB,
# the usual limit, takes 300 MB at most; some markup takes the parser quadratic memory.
MEMORY = 640 * 2**20
PER_BYTE = 64  # of a page; counts for pages that are larger than this allows


class Task(msgspec.Struct, frozen=True, array_like=True):
    """The task of a reader process."""

    job: str  # module:function; called with `setup` it makes the Job
    setup: bytes
    deadline: float  # seconds of CPU for one response
    patience: float  # seconds for one response on a machine that may be busy


def frames(sock: socket.socket) -> Iterator[bytes]:
    """Every frame until the other side closes."""
    while header := receive(sock, LENGTH.size):
        yield receive(sock, LENGTH.unpack(header)[0])


def receive(sock: socket.socket, size: int) -> bytes:
    """Exactly `size` bytes; none when the other side has closed."""
    data = sock.recv(size, socket.MSG_WAITALL)
    while len(data) < size:
        more = sock.recv(size - len(data), socket.MSG_WAITALL)
        if not more:
            return b""
        data += more
    return data


def work(sock: socket.socket) -> None:
    """Make the job of the first frame, then do it for each one that follows."""
    incoming = frames(sock)
    first = next(incoming, None)
    if first is None:
        return
    task = msgspec.msgpack.decode(first, type=Task)
    job = find_job(task.job)(task.setup)
    memory = MemoryLimit()
    gc.freeze()  # what the job holds for good need not be looked through again
    settle = getattr(job, "settle", None)
    decode = msgspec.msgpack.Decoder(Response | Extract | bytes).decode
    encode = msgspec.msgpack.Encoder().encode_into
    held = bytearray()  # answers
    since = 0.0
    more = select.poll()
    more.register(sock, select.POLLIN)
    sock.sendall(READY)
    for frame in incoming:
        message = decode(frame)
        if isinstance(message, bytes):  # a response follows at once
            if settle:
                settle(message)
            continue
        response, do, deadline = message, job, task.deadline
        if isinstance(message, tuple):
            response, do = message[0], job.extract  # type: ignore[attr-defined]
            deadline = min(deadline, TEXT_DEADLINE)
        if not held:
            since = time.monotonic()
        # The kernel kills us at the deadline, or if the parent dies while the job
        # hangs. A living parent does so earlier.
        signal.setitimer(signal.ITIMER_PROF, deadline)
        signal.setitimer(signal.ITIMER_REAL, 2 * task.patience)
        memory.allow(memory_for(response))
        reading = attempt(do, response)
        signal.setitimer(signal.ITIMER_REAL, 0)
        took = deadline - signal.getitimer(signal.ITIMER_PROF)[0]
        if took > HEAVY:
            reading = msgspec.structs.replace(reading, seconds=took)
        start, end = len(held), len(held) + LENGTH.size
        encode(reading, held, end)
        LENGTH.pack_into(held, start, len(held) - end)
        late = time.monotonic() - since > LONGEST_HELD
        if late or len(held) > MOST_HELD or not more.poll(0):
            sock.sendall(held)
            held.clear()


def memory_for(response: Response) -> int:
    """The bytes that reading a response may take; most of a PDF file is pictures."""
    return 0 if is_pdf(response.body) else PER_BYTE * len(response.content)


def find_job(job: str) -> Callable[[bytes], Job]:
    """The function that `module:function` names."""
    module, _, name = job.partition(":")
    found: Callable[[bytes], Job] = getattr(import_module(module), name)
    return found


def attempt(job: Job, response: Response) -> Reading:
    """The job's answer; an exception is printed on stderr and costs one page."""
    try:
        return job(response)
    except MemoryError:
        os._exit(1)  # this process cannot be relied on now
    except Exception:
        import traceback  # hardly ever needed

        # The text of an error may come from the page: no control characters of it
        # may reach the terminal.
        story = f"reading {response.url!r} failed\n{traceback.format_exc()}"
        for line in story.splitlines():
            sys.stderr.write(ascii(line)[1:-1] + "\n")
        return Reading(None, reason="parse_crashed")


class MemoryLimit:
    """Limits the growth of the process, where the system supports it."""

    def __init__(self) -> None:
        self.base = self.given = 0
        self.hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        with suppress(OSError):
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            self.base = pages * resource.getpagesize()
        self.allow(MEMORY)

    def allow(self, size: int) -> None:
        """Allow the process to grow by this many bytes, and by MEMORY at least."""
        size = max(size, MEMORY)
        if not self.base or size == self.given:
            return
        self.given = size
        limit = self.base + size
        if self.hard != resource.RLIM_INFINITY:
            limit = min(limit, self.hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, self.hard))


def main() -> None:
    """Serve the socket on stdin until the parent closes it or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C belongs to the parent
    with socket.socket(fileno=os.dup(0)) as sock:
        try:
            work(sock)
        except (BrokenPipeError, ConnectionResetError):
            return  # the parent is gone


if __name__ == "__main__":
    main()
