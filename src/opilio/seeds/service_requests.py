"""A question to a service that the user named in; its answer, redirects followed, out.

A search engine or SearXNG address in a topic file is the user's own choice, as if typed
into a browser, so robots.txt is not asked. All else is as for any request: it goes by
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
    """Ask, and follow redirects; headers go to the first host only."""
    first = url
    for _ in range(MAX_HOPS + 1):
        response = await get(url, headers=headers, max_bytes=MAX_BYTES, form=form)
        if response.status not in REDIRECTS:
            return response
        target = redirect_target(response)
        if not target:
            raise Unusable("bad_redirect", f"{url} redirects to nowhere that we go")
        if response.status not in REPEATED:
            form = None
        if ada_url.URL(target).origin != ada_url.URL(url).origin:
            headers = ()
        url = target
    raise Unusable(
        "too_many_redirects", f"{first} redirects more than {MAX_HOPS} times"
    )


def redirect_target(response: Response) -> str:
    """Where a redirect leads; "" when that is nowhere we go."""
    location = response.location
    try:
        url: str = ada_url.join_url(response.url, location) if location else ""
    except ValueError:
        return ""
    return url.partition("#")[0] if url.startswith(("http://", "https://")) else ""
