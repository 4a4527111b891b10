"""Finds the links of a page that may be followed, and why a page leads nowhere."""

from __future__ import annotations

from collections.abc import Sequence

from opilio.limits.scope import Scope
from opilio.records import Link, Page

NOT_TO_FOLLOW = {"nofollow", "ugc", "sponsored"}


def may_follow(link: Link) -> bool:
    """Whether the page of a link allows us to follow it."""
    return not link.rel or NOT_TO_FOLLOW.isdisjoint(link.rel.lower().split())


def to_follow(page: Page, scope: Scope) -> Sequence[Link]:
    """The links of a page that neither the page nor the scope forbids."""
    if page.nofollow:
        return ()
    links = page.links
    if [link for link in links if link.rel]:  # any() would take twice as long
        links = [link for link in links if may_follow(link)]
    if scope.is_limited:
        links = [link for link in links if scope.allows(link.url)]
    return links


def obstacles(page: Page, url: str, scope: Scope) -> list[str]:
    """Why a page cannot be used or leads nowhere; empty for most pages.

    These are `out_of_scope` and `noindex` of the page itself, and one of `nofollow`,
    `no_links`, `links_out_of_scope`, `links_nofollow` and `links_forbidden` (some for
    one reason, some for the other) if none of its links may be followed.
    """
    found = []
    if not scope.allows(url):
        found.append("out_of_scope")
    if page.noindex:
        found.append("noindex")
    if page.nofollow:
        found.append("nofollow")
    elif page.settled:
        pass  # they may be followed
    elif not [link for link in page.links if link.url != url]:
        found.append("no_links")
    elif not to_follow(page, scope):
        marked = any(not may_follow(link) for link in page.links)
        outside = any(not scope.allows(link.url) for link in page.links)
        both = "links_forbidden" if outside else "links_nofollow"
        found.append(both if marked else "links_out_of_scope")
    return found
