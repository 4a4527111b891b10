"""A web of a few given pages that can be served and crawled, for tests."""

from __future__ import annotations

from collections.abc import Mapping

from opilio.lab.synthetic.web import HTML, SyntheticAnswer


class SmallWeb:
    """Pages written out by hand: URL -> HTML, or the whole answer.

    Everything else is a 404, robots.txt included.
    """

    def __init__(self, pages: Mapping[str, str | SyntheticAnswer]) -> None:
        self.answers = {
            url: answer
            if isinstance(answer, SyntheticAnswer)
            else SyntheticAnswer(200, (HTML,), answer.encode())
            for url, answer in pages.items()
        }

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        """The answer for a URL; the same each time."""
        missing = SyntheticAnswer(404, (HTML,), b"<title>Not found</title>")
        return self.answers.get(url, missing)


def redirect(target: str, status: int = 302) -> SyntheticAnswer:
    """A redirect."""
    return SyntheticAnswer(status, (HTML, ("location", target)))


def page(title: str, text: str = "", links: Mapping[str, str] | None = None) -> str:
    """A plain page; `links` are address -> anchor."""
    items = "".join(
        f'<li><a href="{href}">{anchor}</a></li>'
        for href, anchor in (links or {}).items()
    )
    return (
        f'<!doctype html><html lang="en"><title>{title}</title>'
        f"<h1>{title}</h1><p>{text}</p><ul>{items}</ul></html>"
    )
