"""Reads noindex and nofollow from meta tags and X-Robots-Tag headers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opilio.text.content import split_list


def page_directives(
    meta_values: Iterable[str], x_robots_tag: Iterable[str], product_token: str
) -> tuple[bool, bool]:
    """The robots directives of a page: (noindex, nofollow).

    `meta_values` are the contents of <meta name=robots> and <meta name=our token>,
    `x_robots_tag` the lines of that header, each of which may be for one robot only.
    """
    wishes = {wish for value in meta_values for wish in split_list(value)}
    for line in x_robots_tag:
        wishes.update(wishes_for(product_token.lower(), line))
    everything = "none" in wishes
    return everything or "noindex" in wishes, everything or "nofollow" in wishes


WISHES_WITH_VALUES = ("unavailable_after", "max-snippet", "max-image-preview",
                      "max-video-preview")  # fmt: skip


def wishes_for(token: str, line: str) -> Iterator[str]:
    """The directives of an X-Robots-Tag line for all robots or for this one."""
    ours = True
    for item in split_list(line):
        name, colon, wish = item.partition(":")
        if colon and name.strip() not in WISHES_WITH_VALUES:
            ours, item = name.strip() in (token, "*"), wish.strip()
        if ours:
            yield item
