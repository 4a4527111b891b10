"""Runs many libcurl transfers at a time in the asyncio event loop.

libcurl reports which sockets it waits for and when it wants to be called next. Our own
epoll watches the sockets, and the loop watches that epoll: this is cheaper than giving
the loop each socket, and the same under asyncio and uvloop.

Idle connections are watched, too. If a server sent something on one without a request,
it would be taken for the response to the next request (libcurl checks for this only
once a second), so the connection is shut down.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import stat
import time
from contextlib import suppress
from typing import Any

import pycurl

SLACK = 0.001  # seconds; called too early, libcurl does nothing and does not ask again
MAX_IDLE = 512  # connections kept open for later
DRAINED = 100  # pieces of 64 KiB; more than a socket's buffer holds


class Multi:
    """Performs transfers; belongs to the loop that is running when it is made."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._epoll = select.epoll()
        self._watched: dict[int, int] = {}  # descriptor: the events we wait for
        self._idle: set[int] = set()  # descriptors kept for later, or closed since
        self._waiting: dict[Any, asyncio.Future[tuple[int, str]]] = {}
        self._due: float | None = None  # when libcurl wants to be called
        self._soon: asyncio.Handle | None = None  # calls it in the loop's next round
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_due)
        self._multi.setopt(pycurl.M_MAXCONNECTS, MAX_IDLE)
        self._loop.add_reader(self._epoll.fileno(), self._on_sockets)

    async def perform(self, curl: Any) -> tuple[int, str]:
        """Run one transfer; returns libcurl's error code (0: success) and message. When
        cancelled, the transfer stops and the handle is free again."""
        finished: asyncio.Future[tuple[int, str]] = self._loop.create_future()
        self._waiting[curl] = finished
        try:
            self._multi.add_handle(curl)  # libcurl asks for a call at once
            return await finished
        finally:
            if self._waiting.pop(curl, None) is not None:
                self._multi.remove_handle(curl)

    def close(self) -> None:
        """Stop what is under way and close every connection."""
        for curl, finished in self._waiting.items():
            self._multi.remove_handle(curl)
            if not finished.done():
                finished.set_result((pycurl.E_ABORTED_BY_CALLBACK, "closed"))
        self._waiting.clear()
        for planned in (self._soon, self._timer):
            if planned is not None:
                planned.cancel()
        self._loop.remove_reader(self._epoll.fileno())
        self._multi.close()
        self._epoll.close()

    def _watch(self, what: int, descriptor: int, _multi: Any, _data: Any) -> None:
        """Called by libcurl when it waits for other events on a socket than before."""
        if what == pycurl.POLL_REMOVE:
            # It is kept for later or closed next; the latter ends our watch, too.
            if self._watched.pop(descriptor, 0) == select.EPOLLIN:
                self._idle.add(descriptor)
            else:
                with suppress(OSError):
                    self._epoll.unregister(descriptor)
            return
        events = (select.EPOLLIN if what & pycurl.POLL_IN else 0) | (
            select.EPOLLOUT if what & pycurl.POLL_OUT else 0
        )
        before = self._watched.get(descriptor)
        if events == before:
            return
        self._watched[descriptor] = events
        if before is not None or descriptor in self._idle:
            self._idle.discard(descriptor)
            # Not found: that one was closed, this one has only the same number.
            with suppress(FileNotFoundError):
                self._epoll.modify(descriptor, events)
                return
        os.set_inheritable(descriptor, False)
        self._epoll.register(descriptor, events)

    def _on_sockets(self) -> None:
        running = len(self._waiting)
        for descriptor, events in self._epoll.poll(0):
            if descriptor in self._watched:
                mask = pycurl.CSELECT_OUT if events & select.EPOLLOUT else 0
                if events & ~select.EPOLLOUT:
                    mask |= pycurl.CSELECT_IN
                _, running = self._multi.socket_action(descriptor, mask)
            elif descriptor in self._idle:
                self._cut_off(descriptor)
        self._finish(running)

    def _cut_off(self, descriptor: int) -> None:
        """Make an idle connection useless: libcurl will find it dead and open another.

        Data on it means that it was closed, or that it must not be used.
        """
        self._idle.discard(descriptor)
        with suppress(OSError):
            self._epoll.unregister(descriptor)
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                return  # libcurl also wakes itself by a descriptor
            with socket.socket(fileno=os.dup(descriptor)) as connection:
                connection.shutdown(socket.SHUT_RDWR)
                for _ in range(DRAINED):
                    if not connection.recv(2**16):
                        break

    def _set_due(self, milliseconds: int) -> None:
        """Called by libcurl to set when it wants to be called; -1: not any more."""
        if milliseconds < 0:
            self._due = None
        elif milliseconds == 0:  # as for each new transfer; a timer stays as it is
            self._due = 0.0
            self._soon = self._soon or self._loop.call_soon(self._on_soon)
        else:
            now = time.monotonic()
            self._due = now + milliseconds / 1000 + SLACK
            self._arm(self._due, now)

    def _arm(self, due: float, now: float) -> None:
        """Make sure that a timer expires by then; too early is cheaper than a new
        one."""
        if self._timer is not None:
            if self._timer_at <= due:
                return
            self._timer.cancel()
        self._timer_at = due
        self._timer = self._loop.call_later(due - now, self._on_timer)

    def _on_soon(self) -> None:
        self._soon = None
        self._call()

    def _on_timer(self) -> None:
        self._timer = None
        self._call()

    def _call(self) -> None:
        """Call libcurl if it is due; else set a timer."""
        if self._due is None:
            return
        now = time.monotonic()
        if now < self._due:
            self._arm(self._due, now)
            return
        self._due = None
        try:
            self._on_sockets()  # before connections are used again
            _, running = self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
            self._finish(running)
        finally:
            # It asks only for times that differ from the last one it asked for.
            if self._due is None and self._waiting:
                self._set_due(self._multi.timeout())

    def _finish(self, running: int) -> None:
        """Deliver results, if libcurl has fewer transfers than we wait for."""
        if running == len(self._waiting):
            return
        _, succeeded, failed = self._multi.info_read()
        results = [(curl, 0, "") for curl in succeeded]
        for curl, code, message in results + failed:
            self._multi.remove_handle(curl)
            finished = self._waiting.pop(curl)
            if not finished.done():
                finished.set_result((code, message))
