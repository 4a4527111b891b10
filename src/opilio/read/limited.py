"""Reads pages in a process with limits on memory and CPU, one page at a time.

Crawled pages are hostile: some markup takes a parser quadratic memory. So nothing but a
reader process parses them. This is the one for commands and programs that read a page
now and then; a crawl has a `ReaderPool`.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable

import msgspec

from opilio.read import pool
from opilio.read.processes import Process, start_process, used_up_cpu
from opilio.read.worker import LENGTH, Task, receive
from opilio.records import Reading, Response

decode = msgspec.msgpack.Decoder(Reading).decode


class LimitedReader:
    """A process that does `job` (module:function) on one response after another. It
    starts when it is first needed, and is replaced when it dies."""

    def __init__(self, job: str, setup: bytes = b"") -> None:
        self.task = Task(job, setup, pool.CPU_DEADLINE, pool.PATIENCE)
        self.process: Process | None = None
        self.socket: socket.socket | None = None
        self.turn = threading.Lock()  # threads share the process
        self.owner = os.getpid()

    def read(self, response: Response) -> Reading:
        """The reading of a response; without a page, and with a reason, if the process
        dies of it."""
        if self.owner != os.getpid():  # a fork must not read what its parent asked for
            self.owner, self.turn = os.getpid(), threading.Lock()
            self.process = self.socket = None
        with self.turn:
            return self.read_next(response)

    def read_next(self, response: Response) -> Reading:
        """The same, in the turn of this thread."""
        try:
            connection = self.socket or self.start()
            send(connection, response)
            connection.settimeout(self.task.patience)
            return decode(receive_frame(connection))
        except (OSError, EOFError) as error:
            slow = isinstance(error, TimeoutError) or self.end()
            self.end()
            return Reading(None, reason="parse_timeout" if slow else "parse_crashed")

    def start(self) -> socket.socket:
        """Start the process and wait until it is ready."""
        self.process, self.socket = start_process()
        self.socket.settimeout(pool.STARTUP)
        send(self.socket, self.task)
        try:
            receive_frame(self.socket)
        except (OSError, EOFError) as error:
            self.end()
            raise RuntimeError(
                f"a reader process failed to start {self.task.job}; its stderr says why"
            ) from error
        return self.socket

    def end(self) -> bool:
        """End the process; returns whether it had used up its CPU."""
        process, self.process = self.process, None
        connection, self.socket = self.socket, None
        if connection:
            connection.close()
        if process is None or self.owner != os.getpid():  # it is that of our parent
            return False
        process.kill()
        process.wait()
        return used_up_cpu(process)

    def close(self) -> None:
        """End the process, if it runs."""
        self.end()

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_ending():  # then the process ends with its connection
            self.end()


def send(connection: socket.socket, message: Task | Response) -> None:
    """Write one frame."""
    frame = bytearray(LENGTH.size)
    pool.encode_into(message, frame, LENGTH.size)
    LENGTH.pack_into(frame, 0, len(frame) - LENGTH.size)
    connection.sendall(frame)


def receive_frame(connection: socket.socket) -> bytes:
    """One frame; EOFError if the process is gone."""
    header = receive(connection, LENGTH.size)
    if not header:
        raise EOFError
    [size] = LENGTH.unpack(header)
    frame = receive(connection, size)
    if len(frame) < size:
        raise EOFError
    return frame
