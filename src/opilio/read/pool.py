"""Runs reader processes, and replaces those that crash or hang.

A page is 1. waiting, 2. pending at one reader, in the order of the answers, 3.
answered. A reader that takes too much CPU for a page kills itself; one that hangs is
killed. When one dies, all pages pending there
are suspects: each is retried once, alone at a reader, and given up if that dies, too.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections import deque
from dataclasses import dataclass
from typing import cast

import msgspec

from opilio.read.processes import Process, start_process, used_up_cpu
from opilio.read.worker import LENGTH, Task
from opilio.records import MainText, Reading, Response
from opilio.text import urls

AHEAD = 16  # pages at one reader, so that it never waits for the loop
MUCH = 4 * 2**20  # bytes of these; one page may have more
CPU_DEADLINE = 10.0  # seconds of CPU for one page
PATIENCE = 120.0  # seconds for one page, on a machine that may be busy
STARTUP = 60.0  # seconds a reader may take to start
FAREWELL = 5.0  # seconds a reader may take to exit
BUFFER = 256 * 1024

encode_into = msgspec.msgpack.Encoder().encode_into
decode_reading = msgspec.msgpack.Decoder(Reading).decode


@dataclass(slots=True, eq=False)
class Pending:
    """A response that waits to be read."""

    response: Response
    answer: asyncio.Future[Reading]
    extract: bool = False  # its main text is wanted, not its page
    suspect: bool = False  # a reader died while it was pending there

    def settle(self, reading: Reading) -> None:
        """Set the result, if it is still waited for."""
        if not self.answer.done():
            self.answer.set_result(reading)


class Reader(asyncio.BufferedProtocol):
    """One reader process, seen from the loop."""

    def __init__(self, pool: ReaderPool, process: Process) -> None:
        self.pool = pool
        self.process = process
        self.loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = self.loop.create_future()
        self.lost: asyncio.Future[None] = self.loop.create_future()
        self.pending: deque[Pending] = deque()
        self.load = 0  # bytes of the pages that are pending
        self.since = 0.0  # when it took up the page it is at
        self.settled = bytearray()  # links that it does not know of yet
        self.retired = False  # it answers what is pending, and leaves
        self.buffer = bytearray(BUFFER)
        self.filled = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by name
        # Pages that are sent at about the same time go in one piece.
        self.transport.set_write_buffer_limits(high=MUCH)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(None)

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self.buffer)[self.filled :]

    def buffer_updated(self, nbytes: int) -> None:
        """Take every whole frame, keep the rest at the front of the buffer."""
        self.filled += nbytes
        view = memoryview(self.buffer)[: self.filled]
        needed = LENGTH.size
        while len(view) >= LENGTH.size:
            needed = LENGTH.size + LENGTH.unpack_from(view)[0]
            if len(view) < needed:
                break
            self.receive(view[LENGTH.size : needed])
            view = view[needed:]
            needed = LENGTH.size
        rest = bytes(view)
        if needed > len(self.buffer):
            self.buffer = bytearray(needed)
        self.buffer[: len(rest)] = rest
        self.filled = len(rest)

    def receive(self, frame: memoryview) -> None:
        """The first frame says that the reader is ready; all others are readings."""
        if not self.ready.done():
            self.ready.set_result(None)
            return
        reading = decode_reading(frame)
        page = self.pending.popleft()
        self.load -= len(page.response.body)
        if reading.seconds:
            self.pool.note_heavy(page, reading.seconds)
        self.since = self.loop.time()
        page.settle(reading)
        if self.retired and not self.pending:
            self.transport.close()
        self.pool.dispatch()

    def retire(self) -> None:
        """Accept no more pages; exit when the pending ones are answered."""
        self.retired = True
        if not self.pending:
            self.transport.close()

    def send(self, message: object) -> None:
        """Write one frame."""
        frame = bytearray(LENGTH.size)
        encode_into(message, frame, LENGTH.size)
        LENGTH.pack_into(frame, 0, len(frame) - LENGTH.size)
        self.transport.write(frame)

    def has_room(self, page: Pending) -> bool:
        """Whether it may have this page in addition."""
        if self.retired:
            return False
        if not self.pending:
            return True
        alone = page.suspect or self.pending[0].suspect
        return not alone and len(self.pending) < AHEAD and self.load < MUCH

    def give(self, page: Pending) -> None:
        """Send one more page to the reader."""
        if not self.pending:
            self.since = self.loop.time()
        self.pending.append(page)
        self.load += len(page.response.body)
        if self.settled:
            self.send(self.settled)
            self.settled.clear()
        self.send((page.response,) if page.extract else page.response)

    async def end(self, patience: float = FAREWELL) -> None:
        """Close the connection and wait until the process has ended."""
        if transport := getattr(self, "transport", None):  # else it was just started
            transport.abort()
        try:
            await asyncio.to_thread(self.process.wait, patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)


class ReaderPool:
    """`count` reader processes that do `job` (module:function) on every response."""

    def __init__(
        self,
        count: int,
        job: str,
        setup: bytes,
        *,
        deadline: float = CPU_DEADLINE,
        patience: float = PATIENCE,
    ) -> None:
        self.count = count
        self.task = Task(job, setup, deadline, patience)
        self.waiting: deque[Pending] = deque()
        self.readers: list[Reader] = []
        self.keepers: list[asyncio.Task[None]] = []
        self.failure: Exception | None = None
        self.heavy: dict[str, float] = {}  # host -> seconds, until somebody looks

    async def start(self) -> None:
        """Start the readers; returns when all are ready."""
        try:
            async with asyncio.TaskGroup() as group:
                launches = [group.create_task(self.launch()) for _ in range(self.count)]
        except ExceptionGroup as errors:
            await self.close()
            raise errors.exceptions[0] from None
        self.keepers = [
            asyncio.create_task(self.keep(launch.result())) for launch in launches
        ]

    async def read(self, response: Response) -> Reading:
        """The reading of a response; without a page if it crashes readers."""
        return await self.ask(response)

    async def extract(self, response: Response) -> MainText | None:
        """The main text of a response; None if it crashes readers."""
        return (await self.ask(response, extract=True)).extraction

    async def ask(self, response: Response, *, extract: bool = False) -> Reading:
        """The answer of a reader."""
        if self.failure is not None:
            raise self.failure
        answer: asyncio.Future[Reading] = asyncio.get_running_loop().create_future()
        page = Pending(response, answer, extract)
        self.waiting.append(page)
        self.dispatch()
        return await page.answer

    def renew(self, setup: bytes) -> None:
        """Replace the readers by others with a new setup, as soon as each is free."""
        self.task = msgspec.structs.replace(self.task, setup=setup)
        for reader in self.readers:
            reader.retire()

    def settle(self, links: bytes) -> None:
        """Let the readers no longer tell of these links more than that they are there;
        those that are started later do."""
        for reader in self.readers:
            reader.settled += links

    async def close(self) -> None:
        """End the readers; calls that still wait for a reading are cancelled."""
        for keeper in self.keepers:
            keeper.cancel()
        await asyncio.gather(*self.keepers, return_exceptions=True)
        readers, self.readers = self.readers, []
        await asyncio.gather(*(reader.end() for reader in readers))
        for page in (*self.waiting, *(p for r in readers for p in r.pending)):
            page.answer.cancel()
        self.waiting.clear()
        self.failure = RuntimeError("the readers have been closed")

    def dispatch(self) -> None:
        """Give waiting pages, in order, to the least loaded readers with room."""
        while self.waiting:
            page = self.waiting[0]
            free = [reader for reader in self.readers if reader.has_room(page)]
            if not free:
                return
            least = free[0] if len(free) == 1 else min(free, key=lambda r: r.load)
            least.give(self.waiting.popleft())

    async def launch(self) -> Reader:
        """Start one process and wait until it is ready."""
        loop = asyncio.get_running_loop()
        task = self.task
        process, sock = start_process()
        reader = Reader(self, process)
        try:
            await loop.create_unix_connection(lambda: reader, sock=sock)
            reader.send(task)
            await asyncio.wait(
                (reader.ready, reader.lost),
                timeout=STARTUP,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            if not reader.ready.done():
                process.kill()
                await reader.end()
        if not reader.ready.done():
            raise RuntimeError(
                f"a reader process failed to start {self.task.job} "
                f"(exit code {process.returncode}); its stderr says why"
            )
        self.readers.append(reader)
        if task is not self.task:  # renewed meanwhile
            reader.retire()
        self.dispatch()
        return reader

    async def keep(self, reader: Reader) -> None:
        """Watch one reader and replace it whenever it is lost."""
        try:
            while True:
                overdue = await self.watch(reader)
                reader.retired = True
                reader.process.kill()
                await reader.end()
                self.recover(reader, overdue or used_up_cpu(reader.process))
                self.readers.remove(reader)  # at once, so that `close` knows it, too
                reader = await self.launch()
        except Exception as error:
            self.fail(error)

    async def watch(self, reader: Reader) -> bool:
        """Wait until the reader is lost (False) or its page is overdue (True)."""
        while not reader.lost.done():
            patience = self.task.patience
            if reader.pending:
                patience += reader.since - reader.loop.time()
                if patience <= 0:
                    return True
            await asyncio.wait((reader.lost,), timeout=patience)
        return False

    def note_heavy(self, page: Pending, seconds: float) -> None:
        """Remember how long a host has kept a reader busy with one page."""
        host = urls.host(page.response.url)
        self.heavy[host] = self.heavy.get(host, 0.0) + seconds

    def recover(self, reader: Reader, overdue: bool) -> None:
        """Give up the page that the reader died of, if that is certain; the others are
        suspects and wait again. `overdue`: it took too long over a page. Texts are
        given up in any case: they are extracted when they are needed."""
        texts = [page for page in reader.pending if page.extract]
        pending = deque(page for page in reader.pending if not page.extract)
        for page in texts:
            if len(texts) == 1 and not pending:
                self.note_heavy(page, self.task.deadline)
            page.settle(Reading(None))
        if len(pending) == 1 and (overdue or pending[0].suspect):
            reason = "parse_timeout" if overdue else "parse_crashed"
            self.note_heavy(pending[0], 2 * self.task.deadline)
            pending.popleft().settle(Reading(None, reason=reason))
        for page in pending:
            page.suspect = True
        self.waiting.extendleft(reversed(pending))
        reader.pending.clear()
        self.dispatch()

    def fail(self, error: Exception) -> None:
        """Readers can no longer be started: raise the error for every waiting page."""
        self.failure = error
        for page in self.waiting:
            if not page.answer.done():
                page.answer.set_exception(error)
        self.waiting.clear()
