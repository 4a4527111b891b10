"""A name server gone mad, in a network of its own, and the system's resolver asked.

Run in namespaces of its own (`unshare -rnm`): there the loopback is ours alone, and
resolv.conf can name it. Prints as JSON what became of each name, and of a crawl.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from opilio.errors import FetchError
from opilio.fetch.resolve import SystemResolver
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.small import SmallWeb, page

A, CNAME, TXT, IN = 1, 5, 16, 1
MANY = 1000
NAMES = (
    *("many.test", "loop.test", "long.test", "none.test", "broken.test", "mute.test"),
    *("garbage.test", "forged.test", "flood.test", "flip.test", "flip.test"),
)
flips = iter((bytes((127, 0, 0, 9)), bytes((10, 9, 9, 9))))


def name(text: str) -> bytes:
    """A name as it is written on the wire."""
    labels = (bytes([len(part)]) + part.encode() for part in text.split("."))
    return b"".join(labels) + b"\0"


def record(owner: str, kind: int, data: bytes) -> bytes:
    return name(owner) + struct.pack(">HHIH", kind, IN, 60, len(data)) + data


def records(asked: str) -> tuple[int, list[bytes]]:
    """The code and the records of an answer."""
    if asked == "many.test":
        ips = [bytes((127, 0, n // 200, n % 200 + 1)) for n in range(MANY)]
        return 0, [record(asked, A, ip) for ip in ips]
    if asked in ("loop.test", "loop2.test"):
        return 0, [
            record("loop.test", CNAME, name("loop2.test")),
            record("loop2.test", CNAME, name("loop.test")),
        ]
    if asked.endswith("long.test"):  # a chain without end: each leads to the next
        step = int(asked.partition("-")[0]) if "-" in asked else 0
        return 0, [record(asked, CNAME, name(f"{step + 1}-long.test"))]
    if asked == "forged.test":  # the addresses of somebody else
        return 0, [record("many.test", A, bytes((10, 9, 9, 9)))]
    if asked == "flood.test":  # as much as fits into an answer
        own = record(asked, A, bytes((127, 0, 0, 8)))
        return 0, [own, *(record(asked, TXT, b"\xff" + b"x" * 255) for _ in range(200))]
    if asked == "flip.test":  # another one each time
        return 0, [record(asked, A, next(flips, bytes(4)))]
    return (2 if asked == "broken.test" else 3), []


def answer(question: bytes, most: int) -> bytes | None:
    """The answer to a question, cut short if it is longer than `most`."""
    labels, place = [], 12
    while length := question[place]:
        labels.append(question[place + 1 : place + 1 + length].decode().lower())
        place += length + 1
    asked, end = ".".join(labels), place + 5
    kind = struct.unpack(">H", question[place + 1 : place + 3])[0]
    if asked == "mute.test":
        return None
    if asked == "garbage.test":
        return question[:2] + b"\x81\x80" + b"\xff" * 200
    if asked == "flip.test" and kind != A:
        return question[:2] + b"\x81\x80" + question[4:6] + bytes(6) + question[12:end]
    code, found = records(asked)
    if kind != A and asked == "many.test":
        found = []
    body = b"".join(found)
    cut = 12 + end + len(body) > most
    flags = 0x8180 | code | (0x0200 if cut else 0)
    count = 0 if cut else len(found)
    head = question[:2] + struct.pack(">HHHHH", flags, 1, count, 0, 0)
    return head + question[12:end] + (b"" if cut else body)


def answer_datagrams() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 53))
        while True:
            question, client = server.recvfrom(4096)
            if told := answer(question, 512):
                server.sendto(told, client)


def answer_streams() -> None:
    with socket.create_server(("127.0.0.1", 53)) as server:
        while True:
            client, _ = server.accept()
            with client:
                while length := client.recv(2):
                    question = client.recv(struct.unpack(">H", length)[0])
                    if told := answer(question, 65_535):
                        client.sendall(struct.pack(">H", len(told)) + told)


async def resolved(host: str) -> dict:
    """What the resolver of a crawl makes of a name."""
    resolver, began = SystemResolver(), time.monotonic()
    try:
        found: dict = {"addresses": list(await resolver.resolve(host, 80))}
    except FetchError as error:
        found = {"reason": error.reason}
    await resolver.close()
    return found | {"seconds": time.monotonic() - began}


async def crawled(folder: Path) -> dict:
    """What a crawl makes of a host with many addresses, and of one without an end."""
    async with serve(SmallWeb({"http://many.test/": page("Bees", "honey")})) as server:
        seeds = [f"http://{host}:{server.port}/" for host in ("many.test", "loop.test")]
        topic = folder / "bees.toml"
        topic.write_text(f'name = "bees"\nkeywords = ["honey"]\nseeds = {seeds}\n')
        command = ["crawl", topic, "-o", folder / "crawl", "-q", "--delay", "0"]
        process = await asyncio.create_subprocess_exec(
            *(Path(sys.executable).with_name("opilio"), *command),
            *("--allow-network", "127.0.0.0/8"),
            stdout=subprocess.PIPE,
        )
        out, _ = await process.communicate()
    return json.loads(out)


async def main() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "resolv.conf"
        config.write_text("nameserver 127.0.0.1\noptions timeout:2 attempts:1\n")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        subprocess.run(["mount", "--bind", config, "/etc/resolv.conf"], check=True)
        for serving in (answer_datagrams, answer_streams):
            threading.Thread(target=serving, daemon=True).start()
        found = {}
        for host in NAMES:
            found[f"{host} again" if host in found else host] = await resolved(host)
        return found | {"crawl": await crawled(Path(folder))}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main())))
