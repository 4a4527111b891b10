"""Attacks with bytes on the wire: bombs, endless and illegal responses, redirects."""

from __future__ import annotations

import asyncio
import zlib
from functools import cache

import brotli

from opilio.lab.hostile.server import HostileCase, HostileVisit

MIB = 2**20
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PAGE = b"<title>Honey bees</title><p>Bees make honey in a hive.</p>"


@cache
def gzip_zeros(mib: int) -> bytes:
    """So many MiB of zeros as gzip."""
    return gzipped(bytes(MIB), mib)


@cache
def brotli_zeros(mib: int) -> bytes:
    """So many MiB of zeros as brotli."""
    made: bytes = brotli.compress(bytes(mib * MIB), quality=5)
    return made


@cache
def zstd_zeros(mib: int) -> bytes:
    """So many MiB of zeros as zstd: blocks of 128 KiB that repeat a byte (RFC 8878)."""
    blocks = mib * 8
    head = b"\x28\xb5\x2f\xfd\x00\x38"  # a window of 128 KiB, no size, no checksum
    sizes = (2**17 << 3 | 1 << 1 | (each == blocks - 1) for each in range(blocks))
    return head + b"".join(size.to_bytes(3, "little") + b"\0" for size in sizes)


def gzipped(data: bytes, repeat: int = 1) -> bytes:
    """So many times the data, as gzip."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([*(packer.compress(data) for _ in range(repeat)), packer.flush()])


async def gzip_bomb(visit: HostileVisit) -> None:
    await visit.answer(gzip_zeros(128), "Content-Encoding: gzip")


async def brotli_bomb(visit: HostileVisit) -> None:
    await visit.answer(brotli_zeros(64), "Content-Encoding: br")


async def zstd_bomb(visit: HostileVisit) -> None:
    await visit.answer(zstd_zeros(256), "Content-Encoding: zstd")


async def stacked_encodings(visit: HostileVisit) -> None:
    body = PAGE
    for _ in range(10):
        body = gzipped(body)
    await visit.answer(body, "Content-Encoding: " + ", ".join(["gzip"] * 10))


async def gzip_members(visit: HostileVisit) -> None:
    await visit.answer(gzipped(b"") * 100_000, "Content-Encoding: gzip")


async def redirect_bomb(visit: HostileVisit) -> None:
    body = gzip_zeros(128)
    headers = ("Content-Encoding: gzip", f"Location: {visit.root}elsewhere")
    await visit.answer(body, *headers, status="302 Found")


async def endless_body(visit: HostileVisit) -> None:
    await visit.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        await visit.send(b"10000\r\n" + b"honey bee hive. " * 4096 + b"\r\n")


async def tiny_chunks(visit: HostileVisit) -> None:
    await visit.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        await visit.send(b"2\r\nab\r\n" * 10_000)


async def huge_length(visit: HostileVisit) -> None:
    await visit.send(HEAD + b"Content-Length: 10000000000\r\n\r\n" + PAGE)
    await asyncio.sleep(600)


async def drip(visit: HostileVisit) -> None:
    await visit.send(HEAD + b"\r\n")
    while True:
        await visit.send(b"honey bee hive. " * 19, pause=0.5)


async def slow_headers(visit: HostileVisit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await visit.send(b"X-Honey: bee\r\n", pause=2.0)


async def silent(visit: HostileVisit) -> None:
    await asyncio.sleep(600)


async def header_bomb(visit: HostileVisit) -> None:
    await visit.send(HEAD + b"X-Honey: " + b"x" * 10 * MIB + b"\r\n\r\n" + PAGE)


async def header_lines(visit: HostileVisit) -> None:
    lines = b"".join(b"X-%d: honey\r\n" % number for number in range(100_000))
    await visit.send(HEAD + lines + b"\r\n" + PAGE)


async def endless_trailers(visit: HostileVisit) -> None:
    await visit.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n")
    while True:
        await visit.send(b"X-Honey: bee\r\n" * 1000)


async def control_bytes(visit: HostileVisit) -> None:
    await visit.send(HEAD + b"X-Odd: a\x00b\x1b[2Jc\r\n\r\n" + PAGE)


async def bare_newlines(visit: HostileVisit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\nContent-Type: text/html\n folded\n\n" + PAGE)


async def empty_head(visit: HostileVisit) -> None:
    await visit.send(b"\r\n\r\n")


async def not_http(visit: HostileVisit) -> None:
    await visit.send(b"SSH-2.0-OpenSSH_9.9\r\n")


async def two_lengths(visit: HostileVisit) -> None:
    await visit.send(HEAD + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\n" + PAGE)


async def length_and_chunks(visit: HostileVisit) -> None:
    lines = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    await visit.send(HEAD + lines + b"zz\r\n" + PAGE)


async def extra_response(visit: HostileVisit) -> None:
    visit.kept = True
    length = b"Content-Length: %d\r\n\r\n" % len(PAGE)
    other = PAGE.replace(b"honey", b"forged")
    await visit.send(HEAD + length + PAGE + HEAD + length + other)


async def hints_flood(visit: HostileVisit) -> None:
    await visit.send(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 1000)
    await visit.answer(PAGE)


async def short_body(visit: HostileVisit) -> None:
    await visit.send(HEAD + b"Content-Length: 5000\r\n\r\n" + PAGE)


async def reset(visit: HostileVisit) -> None:
    await visit.send(HEAD + b"Content-Length: 5000\r\n\r\n")
    visit.reset()


async def redirect_loop(visit: HostileVisit) -> None:
    target = "b" if visit.path == "/a" else "a"
    await visit.answer("", f"Location: {visit.root}{target}", status="302 Found")


async def redirect_chain(visit: HostileVisit) -> None:
    number = int(visit.path[1:] or 0) + 1
    await visit.answer("", f"Location: {visit.root}{number}", status="301 Moved")


async def redirect_file(visit: HostileVisit) -> None:
    await visit.answer("", "Location: file:///etc/passwd", status="302 Found")


async def redirect_private(visit: HostileVisit) -> None:
    target = "http://169.254.169.254/latest/meta-data/"
    await visit.answer("", f"Location: {target}", status="302 Found")


async def odd_headers(visit: HostileVisit) -> None:
    cookies = [f"Set-Cookie: c{n}=x; Domain=co.uk; Path=/" for n in range(100)]
    await visit.answer(PAGE, *cookies, "Referrer-Policy: os.system")


async def long_rest(visit: HostileVisit) -> None:
    await visit.answer("", "Retry-After: 99999999", status="429 Too Many Requests")


WIRE_CASES = [
    HostileCase("gzip-bomb", "128 MiB of zeros in 128 KB of gzip", gzip_bomb),
    HostileCase("brotli-bomb", "64 MiB of zeros in 60 bytes of brotli", brotli_bomb),
    HostileCase("zstd-bomb", "256 MiB of zeros in 8 KB of zstd", zstd_bomb),
    HostileCase("stacked-encodings", "ten layers of gzip", stacked_encodings),
    HostileCase("gzip-members", "100,000 empty gzip members", gzip_members),
    HostileCase("redirect-bomb", "a redirect with a bomb as its body", redirect_bomb),
    HostileCase("endless-body", "chunks without end", endless_body),
    HostileCase("tiny-chunks", "chunks of two bytes without end", tiny_chunks),
    HostileCase("huge-length", "a Content-Length of 10 GB, then silence", huge_length),
    HostileCase("drip", "600 bytes a second without end", drip),
    HostileCase("slow-headers", "a header line every two seconds", slow_headers),
    HostileCase("silent", "nothing", silent),
    HostileCase("header-bomb", "a header of 10 MiB", header_bomb),
    HostileCase("header-lines", "100,000 header lines", header_lines),
    HostileCase("endless-trailers", "trailers without end", endless_trailers),
    HostileCase("control-bytes", "NUL and escape sequences in a header", control_bytes),
    HostileCase("bare-newlines", "lines without CR, folded headers", bare_newlines),
    HostileCase("empty-head", "two empty lines", empty_head),
    HostileCase("not-http", "the greeting of another protocol", not_http),
    HostileCase("two-lengths", "two different Content-Length headers", two_lengths),
    HostileCase("length-and-chunks", "both, and a bad chunk size", length_and_chunks),
    HostileCase("extra-response", "a second response nobody asked for", extra_response),
    HostileCase("hints-flood", "1,000 informational responses", hints_flood),
    HostileCase("short-body", "less body than announced", short_body),
    HostileCase("reset", "a reset in the middle of the body", reset),
    HostileCase("redirect-loop", "redirects in a ring", redirect_loop),
    HostileCase("redirect-chain", "redirects without end", redirect_chain),
    HostileCase("redirect-file", "a redirect to file:///etc/passwd", redirect_file),
    HostileCase("redirect-private", "a redirect to 169.254.169.254", redirect_private),
    HostileCase("odd-headers", "cookies for co.uk, code in a header", odd_headers),
    HostileCase("long-rest", "429 with a Retry-After of three years", long_rest),
]
