"""Sends requests to search services and for seed sources, and follows redirects.

A search engine or SearXNG instance in a topic file is the user's choice, as if typed
into a browser, so robots.txt is not checked. Otherwise it is like any request: it uses
the one guarded way out, which refuses private addresses, also behind redirects.
"""

from __future__ import annotations

import ada_url

from opilio.errors import Unusable
from opilio.records import Headers, Response
from opilio.seeds.seed import Get

MAX_BYTES = 4 * 2**20  # of an answer
MAX_HOPS = 3
REDIRECTS = frozenset((301, 302, 303, 307, 308))
REPEATED = frozenset((307, 308))  # the form is to be sent again


async def ask(
    get: Get, url: str, *, headers: Headers = (), form: bytes | None = None
) -> Response:
    """Send a request and follow redirects; headers go to the first host only."""
    first = url
    for _ in range(MAX_HOPS + 1):
        response = await get(url, headers=headers, max_bytes=MAX_BYTES, form=form)
        if response.status not in REDIRECTS:
            return response
        target = redirect_target(response)
        if not target:
            raise Unusable("bad_redirect", f"{url} redirects to an invalid URL")
        if response.status not in REPEATED:
            form = None
        if ada_url.URL(target).origin != ada_url.URL(url).origin:
            headers = ()
        url = target
    raise Unusable(
        "too_many_redirects", f"{first} redirects more than {MAX_HOPS} times"
    )


async def page_for_source(get: Get, url: str) -> Response:
    """What a seed source asks for, behind redirects; Unusable if the answer is an
    error, whose page would be taken for a list of seeds."""
    response = await ask(get, url)
    if not 200 <= response.status < 300:
        raise Unusable(f"http_{response.status}", f"{url} answered {response.status}")
    return response


def redirect_target(response: Response) -> str:
    """The target of a redirect; "" if it is not one to follow."""
    location = response.location
    try:
        url: str = ada_url.join_url(response.url, location) if location else ""
    except ValueError:
        return ""
    return url.partition("#")[0] if url.startswith(("http://", "https://")) else ""
