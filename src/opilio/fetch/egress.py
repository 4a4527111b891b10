"""Makes all HTTP requests, guarded and limited; no other module uses the network.

For each request, 1. scheme and port of the URL are checked; 2. its host is looked up,
and every address found must be one we may connect to; 3. libcurl is bound to these
addresses; 4. the address of each socket is checked once more before it connects; 5. the
response is read only up to the limits.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import pycurl

from opilio.errors import BadInput, MachineLimit, OpilioError, Unusable
from opilio.fetch.address_gate import AddressGate
from opilio.fetch.addresses import allowed, parse_networks, server_at
from opilio.fetch.curl_errors import CUT_SHORT, TOO_MANY_FILES, Failure, explain_failure
from opilio.fetch.http_head import Target, split_port, target
from opilio.fetch.limited_response import Accept, ByteLimit, Exchange, Limits
from opilio.fetch.proxy_and_certificates import find_ca_file, parse_proxy
from opilio.fetch.resolve import Resolver, SystemResolver
from opilio.fetch.transfers import Multi
from opilio.limits.contact import user_agent
from opilio.records import Clock, Headers, Response
from opilio.settings import FetchSettings
from opilio.text import content

ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.1"
ENCODINGS = "gzip, deflate, br"
LONGEST = 2**31 - 1
PIN_LIFE = 60  # seconds; libcurl forgets the addresses of hosts it no longer visits
BUFFER = 2**17  # most pages arrive in one piece
SUPPRESS_CONNECT_HEADERS = 265  # of curl/curl.h; pycurl has no name for it


class Egress:
    """Makes guarded and limited requests; raises Transient or Unusable. Must be made
    inside an event loop."""

    def __init__(
        self,
        settings: FetchSettings,
        resolver: Resolver | None = None,
        *,
        limits: Limits | None = None,
        ca_file: str = "",
        now: Clock = time.time,
        ip_delay: float = 0.0,
    ) -> None:
        """`ip_delay`: seconds between two requests to one address."""
        self._settings = settings
        self._limits = limits or Limits()
        self._now = now
        self._ca_file = ca_file or find_ca_file()
        self._proxy = parse_proxy(settings.proxy)
        networks = parse_networks(settings.allow_networks)
        self._allowed = lru_cache(2**12)(lambda address: allowed(address, networks))
        self._own_resolver: SystemResolver | None = None
        if resolver is None:
            resolver = self._own_resolver = SystemResolver()
        self._resolver = resolver
        self._sent = (
            ("user-agent", user_agent(settings)),
            ("accept", ACCEPT),
            ("accept-encoding", ENCODINGS),
        )
        self._multi = Multi()
        self._gate = AddressGate(ip_delay)
        self._idle: list[Exchange] = []
        self._answered = False  # has the proxy, if any, let a request through?
        self._closed = False

    async def get(
        self,
        url: str,
        *,
        headers: Headers = (),
        max_bytes: ByteLimit | None = None,
        accept: Accept | None = None,
        form: bytes | None = None,
    ) -> Response:
        """Request a URL and read at most `max_bytes` of the body.

        `accept` sees status and headers before the body and may return a reason to skip
        it. Redirects are not followed. A `form` is posted: to search engines that need
        it, and for scripts of pages that are rendered.
        """
        place = target(url)
        addresses = await self._addresses(place)
        if self._proxy is None:
            await self._gate.turn(numeric_address(place, addresses))
        exchange = self._idle.pop() if self._idle else self._new_exchange()
        try:
            limit = self._settings.max_bytes if max_bytes is None else max_bytes
            exchange.clear(url, limit, accept)
            self._aim(exchange, url, place, addresses, headers)
            if form is not None:
                exchange.curl.setopt(pycurl.POSTFIELDS, form)
            await self.before_request()
            code, message = await self._multi.perform(exchange.curl)
            return self._result(url, place, headers, exchange, code, message)
        finally:
            exchange.clear()
            if self._closed:
                exchange.curl.close()
            else:
                if form is not None:
                    exchange.curl.setopt(pycurl.HTTPGET, 1)
                self._idle.append(exchange)

    async def before_request(self) -> None:
        """Called just before a request is sent; a subclass may wait here."""

    async def locate(self, url: str) -> str:
        """The address that a URL is requested from; "" if a proxy chooses it."""
        place = target(url)
        addresses = await self._addresses(place)
        if self._proxy is not None:
            return ""
        return numeric_address(place, addresses)

    async def close(self) -> None:
        """Stop what is under way and close every connection."""
        if self._closed:
            return
        self._closed = True
        self._multi.close()
        for exchange in self._idle:
            exchange.curl.close()
        self._idle.clear()
        if self._own_resolver is not None:
            await self._own_resolver.close()

    async def _addresses(self, place: Target) -> Sequence[str]:
        """Where to connect; empty if libcurl or the proxy decides that."""
        if place.address:
            self._refuse_private(place.address)
            return ()
        if self._proxy is not None:
            return ()  # the proxy looks the host up
        addresses = await self._resolver.resolve(place.host, place.port)
        if not addresses:
            raise Unusable("dns", f"{place.host} has no address", contacted=False)
        for address in addresses:
            self._refuse_private(split_port(address)[0])
        return addresses

    def _refuse_private(self, address: str) -> None:
        if not self._allowed(address):
            raise blocked(address)

    def _aim(
        self,
        exchange: Exchange,
        url: str,
        place: Target,
        addresses: Sequence[str],
        headers: Headers,
    ) -> None:
        """Set the options that differ between requests."""
        curl = exchange.curl
        curl.setopt(pycurl.URL, url)
        detour = ""
        if addresses:
            where = [split_port(address) for address in addresses]
            numeric = ",".join(f"[{a}]" if ":" in a else a for a, _ in where)
            curl.setopt(pycurl.RESOLVE, [f"+{place.host}:{place.port}:{numeric}"])
            if port := where[0][1]:
                first = numeric.partition(",")[0]
                detour = f"{place.host}:{place.port}:{first}:{port}"
        if detour != exchange.detour:
            exchange.detour = detour
            curl.setopt(pycurl.CONNECT_TO, [detour] if detour else None)
        if headers or exchange.extra:
            exchange.extra = tuple(headers)
            lines = [f"{name}: {value}" for name, value in (*self._sent, *headers)]
            curl.setopt(pycurl.HTTPHEADER, lines)

    def _result(
        self,
        url: str,
        place: Target,
        headers: Headers,
        exchange: Exchange,
        code: int,
        message: str,
    ) -> Response:
        """The response, complete or truncated; raises an error if there is none.

        A transfer 1. went well; 2. was stopped by us; 3. broke off in the body;
        4. failed.
        """
        if exchange.error is not None:
            raise exchange.error
        truncated = exchange.truncated
        if code and not truncated:
            if code not in CUT_SHORT or not exchange.is_usable():
                raise self._failure(url, exchange, code, message)
            truncated = "disconnect"
        if exchange.head is None:  # libcurl found none, without an error
            raise Unusable("bad_http", f"{url} sent no headers")
        status, protocol, received = exchange.head
        # Any server can say so; only of a proxy that never worked do we believe it.
        self._answered = self._answered or status != 407
        if status == 407 and self._proxy and not self._answered:
            raise BadInput(
                "the proxy asks for a user name and password (status 407); give "
                "--proxy http://user:password@host:port"
            )
        raw = b"".join(exchange.chunks)
        body, wire = raw, None
        if raw and 200 <= status < 300:
            coding = ", ".join(v for k, v in received if k == "content-encoding")
            if coding:
                body, cut = content.decode(raw, coding, exchange.max_bytes)
                truncated = truncated or cut
                wire = raw if body is not raw else None
        return Response(
            url,
            status,
            received,
            body,
            self._now(),
            wire,
            "" if self._proxy else server_at(exchange.curl.getinfo(pycurl.PRIMARY_IP)),
            protocol,
            truncated,
            (("host", place.authority), *self._sent, *headers),
        )

    def _failure(
        self, url: str, exchange: Exchange, code: int, message: str
    ) -> OpilioError:
        info = exchange.curl.getinfo
        return explain_failure(
            url,
            Failure(
                code,
                message,
                connected=info(pycurl.CONNECT_TIME) > 0,
                os_error=info(pycurl.OS_ERRNO),
                certificate=info(pycurl.SSL_VERIFYRESULT),
                proxied=self._proxy is not None,
                proxy_status=info(pycurl.HTTP_CONNECTCODE) if self._proxy else 0,
            ),
        )

    def _open_socket(self, exchange: Exchange, _purpose: int, where: Any) -> Any:
        """Make a socket for libcurl, unless its address is blocked."""
        address = where.addr[0]
        if self._proxy is None and not self._allowed(address):
            exchange.error = blocked(address)
            return pycurl.SOCKET_BAD
        try:
            opened = socket.socket(where.family, where.socktype, where.protocol)
            os.close(opened.dup().detach())  # libcurl needs a second one, and is mute
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                exchange.error = MachineLimit(TOO_MANY_FILES)
            return pycurl.SOCKET_BAD
        return Lent(opened.detach())

    def _new_exchange(self) -> Exchange:
        """A handle with all the options that never change."""
        curl = pycurl.Curl()
        exchange = Exchange(curl, self._limits)
        settings, limits = self._settings, self._limits
        options: dict[int, Any] = {
            pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
            pycurl.HTTPGET: 1,
            pycurl.HTTPHEADER: [f"{name}: {value}" for name, value in self._sent],
            pycurl.HTTP_CONTENT_DECODING: 0,
            pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
            pycurl.FOLLOWLOCATION: 0,
            pycurl.PATH_AS_IS: 1,
            pycurl.NOSIGNAL: 1,
            pycurl.BUFFERSIZE: BUFFER,
            pycurl.DNS_CACHE_TIMEOUT: PIN_LIFE,
            pycurl.MAXAGE_CONN: whole(settings.keep_alive),
            pycurl.CONNECTTIMEOUT_MS: whole(settings.connect_timeout * 1000),
            pycurl.TIMEOUT_MS: whole(settings.timeout * 1000),
            pycurl.LOW_SPEED_LIMIT: limits.slow_rate,
            pycurl.LOW_SPEED_TIME: limits.slow_seconds,
            pycurl.SSL_VERIFYPEER: 1,
            pycurl.SSL_VERIFYHOST: 2,
            # Proxies from environment variables are ignored.
            pycurl.PROXY: self._proxy.url if self._proxy else "",
            pycurl.NOPROXY: "",
            SUPPRESS_CONNECT_HEADERS: 1,
            pycurl.OPENSOCKETFUNCTION: partial(self._open_socket, exchange),
            pycurl.HEADERFUNCTION: exchange.on_header,
            pycurl.WRITEFUNCTION: exchange.on_body,
        }
        if self._ca_file:
            options[pycurl.CAINFO] = self._ca_file
        if self._proxy and self._proxy.user:
            options[pycurl.PROXYUSERNAME] = self._proxy.user.encode()
            options[pycurl.PROXYPASSWORD] = self._proxy.password.encode()
        for option, value in options.items():
            curl.setopt(option, value)
        return exchange


class Lent:
    """A descriptor that is closed as soon as libcurl has copied it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def fileno(self) -> int:
        """The descriptor, for libcurl to copy."""
        return self.descriptor

    def __del__(self) -> None:
        os.close(self.descriptor)


def numeric_address(place: Target, addresses: Sequence[str]) -> str:
    """The address that is tried first."""
    return server_at(place.address or split_port(addresses[0])[0])


def whole(number: float) -> int:
    """A time for libcurl: at least 1, and no more than it can hold."""
    return max(1, round(min(number, LONGEST)))


def blocked(address: str) -> Unusable:
    """The error for an address that we may not connect to."""
    return Unusable(
        "blocked_address",
        f"{address} is not a public address; if it is yours, allow its network with "
        "fetch.allow_networks (--allow-network)",
        contacted=False,
    )
