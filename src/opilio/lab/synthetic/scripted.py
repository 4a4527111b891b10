"""A site that builds most of its pages by scripts, for tests and measurements.

Pages under /bees/ are an empty element and a script; the script asks for data and makes
text and links of it. Pages under /notes/ are short and have a script that changes
nothing. Those under /texts/ are ordinary. Every page under /bees/ but the first links
to the next ones, so that a crawler without scripts finds none of them.
"""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from opilio.lab.synthetic.web import HTML, PLAIN, SyntheticAnswer

SCRIPT = ("content-type", "text/javascript; charset=utf-8")
JSON = ("content-type", "application/json")
SENTENCE = "The honey bee of hive {n} makes honey and wax in the hive. "
APP = """
const root = document.getElementById("root");
const number = location.pathname.split("/").pop();
fetch("/api/" + number + ".json").then(answer => answer.json()).then(page => {
    document.title = page.title;
    const heading = document.createElement("h1");
    heading.textContent = page.title;
    const text = document.createElement("p");
    text.textContent = page.text;
    root.append(heading, text);
    for (const next of page.links) {
        const link = document.createElement("a");
        link.href = next;
        link.textContent = "honey bee " + next;
        root.append(link, " ");
    }
});
"""
SHELL = (
    '<!DOCTYPE html><html lang="en"><head><title>Bees</title></head><body>'
    '<div id="root"></div><script src="/app.js"></script>{more}'
    "<noscript>Please enable JavaScript.</noscript></body></html>"
)
NOTE = (
    '<!DOCTYPE html><html lang="en"><title>Note {n}</title><h1>Note {n}</h1>'
    "<p>A short note number {n} about honey bees.</p><a href='/'>home</a>"
    "<script>window.counter = 1;</script></html>"
)


class ScriptedSite:
    """One host; `pages` of each kind."""

    def __init__(
        self, pages: int, host: str = "scripted.test", more: str = "", notes: int = 0
    ) -> None:
        """`more` is put into every page that is built by a script."""
        self.pages = pages
        self.origin = f"http://{host}"
        self.notes = notes
        self.shell = SHELL.format(more=more)

    def needs_script(self, url: str) -> bool:
        """Whether a page is built by a script."""
        return urlsplit(url).path.startswith("/bees/")

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        """The answer for a URL."""
        parts = urlsplit(url)
        folder, _, name = parts.path.strip("/").rpartition("/")
        number = name.partition(".")[0]
        if parts.path == "/robots.txt":
            rules = b"User-agent: *\nDisallow: /private/\n"
            return SyntheticAnswer(200, (PLAIN,), rules)
        if parts.path == "/":
            return SyntheticAnswer(200, (HTML,), self.home().encode())
        if parts.path == "/app.js":
            return SyntheticAnswer(200, (SCRIPT,), APP.encode())
        if number.isdecimal() and int(number) <= self.pages:
            if folder == "bees":
                return SyntheticAnswer(200, (HTML,), self.shell.encode())
            if folder == "api":
                return SyntheticAnswer(200, (JSON,), self.data(int(number)))
        if folder == "notes" and number.isdecimal():
            return SyntheticAnswer(200, (HTML,), NOTE.format(n=number).encode())
        return SyntheticAnswer(404, (HTML,), b"<title>Not found</title>")

    def home(self) -> str:
        """The home page, which is ordinary."""
        text = "".join(SENTENCE.format(n=n) for n in range(40))
        notes = "".join(
            f'<a href="/notes/{n}">honey bee note {n}</a> ' for n in range(self.notes)
        )
        return (
            '<!DOCTYPE html><html lang="en"><title>Bees</title><h1>Honey bees</h1>'
            f'<p>{text}</p><a href="/bees/1">the honey bee</a> {notes}</html>'
        )

    def data(self, number: int) -> bytes:
        """What the script makes a page of: each page leads to three others."""
        text = SENTENCE.format(n=number) * 30 + f"Page{number} " * 40
        onward = [n for n in range(3 * number - 1, 3 * number + 2) if n <= self.pages]
        return json.dumps(
            {
                "title": f"Hive {number}",
                "text": text,
                "links": [f"/bees/{n}" for n in onward],
            }
        ).encode()
