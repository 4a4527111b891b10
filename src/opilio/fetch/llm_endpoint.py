"""Sends questions to a language model: to one address, with one key, and nowhere else.

The endpoint has an Egress of its own, because it may be on this machine (`llm.local`)
while crawled pages must not lead there. Redirects are not followed, so the key goes to
the origin of `llm.base_url` alone; it is not stored, logged or archived.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from opilio.errors import BadInput, FetchError
from opilio.fetch.egress import Egress
from opilio.fetch.http_head import target
from opilio.fetch.limited_response import Limits
from opilio.records import Response
from opilio.settings import FetchSettings, LlmSettings

LOCAL = (
    *("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    *("100.64.0.0/10", "fc00::/7"),
)
MOST_BYTES = 2**20  # of an answer
is_key = re.compile(r"[!-~]{1,4096}").fullmatch  # safe in a header line


class LlmEndpoint:
    """Posts requests to a chat endpoint. Must be made inside an event loop."""

    def __init__(
        self, settings: LlmSettings, fetch: FetchSettings, environ: Mapping[str, str]
    ) -> None:
        self.url = endpoint_url(settings)
        self.key = read_key(settings, environ)
        patience = settings.answer_within
        changed = msgspec.structs.replace(
            fetch,
            timeout=patience,
            connect_timeout=min(fetch.connect_timeout, patience),
            max_bytes=MOST_BYTES,
        )
        if settings.local:  # the proxy is for other machines
            networks = (*fetch.allow_networks, *LOCAL)
            changed = msgspec.structs.replace(
                changed, proxy="", allow_networks=networks
            )
        # A model may think for as long as it is given before it sends anything.
        limits = Limits(slow_seconds=max(1, round(patience)))
        self.egress = Egress(changed, limits=limits)

    async def post(self, body: bytes) -> Response:
        """The answer to a request in JSON; raises FetchError if there is none."""
        headers = [("content-type", "application/json")]
        if self.key:
            headers.append(("authorization", f"Bearer {self.key}"))
        return await self.egress.get(self.url, headers=headers, form=body)

    async def close(self) -> None:
        """Close every connection."""
        await self.egress.close()


def endpoint_url(settings: LlmSettings) -> str:
    """Where questions are posted to; BadInput if the settings are not usable."""
    base = settings.base_url.rstrip("/")
    if not base or not settings.model:
        raise BadInput(
            "the judge 'llm' needs the address of a language model and its name; give "
            "base_url = 'https://…/v1' and model = '…' in the section [llm] of the "
            "settings"
        )
    try:
        place = target(base)
    except FetchError as error:
        raise BadInput(f"llm.base_url: {error}; write https://…/v1") from None
    if "?" in base or "#" in base or base.endswith("/chat/completions"):
        raise BadInput(
            f"llm.base_url: {base} must end before /chat/completions; write "
            "https://…/v1"
        )
    if place.scheme == "http" and settings.key_variable and not settings.local:
        raise BadInput(
            f"llm.base_url: {base} is not encrypted, and the key would be readable on "
            "the way; use https, or set llm.local if it is on your own network"
        )
    return f"{base}/chat/completions"


def read_key(settings: LlmSettings, environ: Mapping[str, str]) -> str:
    """The key from the environment; "": none is needed."""
    name = settings.key_variable
    key = environ.get(name, "").strip() if name else ""
    if key and not is_key(key):
        raise BadInput(
            f"the environment variable {name} (llm.key_variable) has characters that "
            "no key has; set it again"
        )
    if name and not key and not settings.local:
        raise BadInput(
            f"the environment variable {name} (llm.key_variable) with the key of "
            f"{settings.base_url} is not set; set it, or key_variable = '' if none is "
            "needed"
        )
    return key
