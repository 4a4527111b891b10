"""Jobs for reader processes in tests: they answer, crash or hang as the body says."""

import os
import signal
import time
from collections.abc import Callable

from opilio.records import MainText, Page, Reading, Response


def make_echo(setup: bytes) -> Callable[[Response], Reading]:
    """A page whose title is the body, unless the body is an order."""

    def job(response: Response) -> Reading:
        order, _, argument = response.body.partition(b" ")
        if order == b"abort":
            os.abort()
        elif order == b"abort-once":
            abort_once(argument.decode())
        elif order == b"hang":
            while True:
                pass
        elif order == b"spin":
            until = time.process_time() + float(argument)
            while time.process_time() < until:
                pass
        elif order == b"raise":
            raise ValueError("\x1b[2J" + argument.decode())
        elif order == b"hoard":
            bytearray(4 * 2**30)
        elif order == b"sleep":
            time.sleep(float(argument))
        elif order == b"interrupt":
            os.kill(os.getpid(), signal.SIGINT)
        record = setup or str(os.getpid()).encode()
        return Reading(page_of(response), record=record)

    return job


def make_settled(setup: bytes) -> "Settled":
    """Pages that say which links were settled before them."""
    return Settled()


class Settled:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.links = b""

    def settle(self, links: bytes) -> None:
        self.links += links

    def __call__(self, response: Response) -> Reading:
        return Reading(page_of(response), record=self.links)


def abort_once(marker: str) -> None:
    """Abort, unless the marker file says that it was done before."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.abort()


def make_large(setup: bytes) -> Callable[[Response], Reading]:
    """A record of as many bytes as the body says."""
    return lambda response: Reading(None, record=b"x" * int(response.body))


def make_nothing(setup: bytes) -> Callable[[Response], Reading]:
    """No job at all: the set-up is wrong."""
    raise ValueError("nothing can be made of this")


def page_of(response: Response) -> Page:
    return Page(
        url=response.url,
        title=response.body.decode(),
        language="",
        charset="utf-8",
        words=0,
        terms={},
        norm=0.0,
        simhash=0,
        links=(),
    )


def make_extractor(setup: bytes) -> "Extractor":
    """Reads pages as `make_echo` does; their texts are orders, too."""
    return Extractor()


class Extractor:
    """Reads any page, but extracts texts as they order."""

    def __init__(self) -> None:
        self.do = make_echo(b"")

    def __call__(self, response: Response) -> Reading:
        return Reading(page_of(response))

    def extract(self, response: Response) -> Reading:
        self.do(response)
        return Reading(None, extraction=MainText(b"text"))
