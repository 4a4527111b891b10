"""Reads and writes webs for the lab: web.toml, WARC files, labels and topics.

Writes a synthetic web as a folder, and opens such a folder, checking that every file
exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import tomli_w

from opilio.errors import BadInput
from opilio.lab.synthetic.kinds import MadeWeb
from opilio.lab.synthetic.web import SyntheticAnswer
from opilio.records import Response
from opilio.settings import Section, load_toml
from opilio.store.warc_records import pack_response

MADE_AT = 1_767_225_600.0  # the start of 2026: a synthetic web is the same at all times
ATTEMPTS = 20  # attempts after which a failing host answers


class WebFile(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """web.toml, as it is written."""

    name: str
    title: str
    warcs: tuple[str, ...]
    labels: str
    topics: str = "topics"
    licence: str = ""


class LabWeb(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A web that the lab can replay; all of its files are there."""

    name: str
    title: str
    warcs: tuple[Path, ...]  # a later record of a URL replaces an earlier one
    labels: Path  # url, tab, label
    topics: dict[str, Path]  # by the name of the file


def open_web(folder: Path) -> LabWeb:
    """The web that a folder's web.toml describes; every file it names must exist."""
    path = folder / "web.toml"
    file = load_toml(path, WebFile)
    if not file.warcs:
        raise BadInput(f"{path}: warcs is empty; name at least one WARC file")
    warcs = tuple(existing(folder / name, path, "warcs") for name in file.warcs)
    labels = existing(folder / file.labels, path, "labels")
    topics = folder / file.topics
    if not topics.is_dir():
        raise BadInput(f"{path}: topics names {topics}, which is not a folder")
    return LabWeb(
        name=file.name,
        title=file.title,
        warcs=warcs,
        labels=labels,
        topics=topics_in(topics),
    )


def topics_in(folder: Path) -> dict[str, Path]:
    """The topic files of a folder, by name; BadInput if there are none."""
    found = {topic.stem: topic for topic in sorted(folder.glob("*.toml"))}
    if not found:
        raise BadInput(f"{folder} has no topic files; put one at least there (*.toml)")
    return found


def existing(path: Path, source: Path, key: str) -> Path:
    """The path, if it is a file."""
    if not path.is_file():
        raise BadInput(f"{source}: {key} names {path}, which does not exist")
    return path


def write_web(web: MadeWeb, folder: Path, name: str = "synthetic") -> LabWeb:
    """Write a synthetic web as a web for the lab, page by page.

    Redirects and dead links are records too; robots.txt is recorded as a crawler would
    receive it. The calendar is left out, since it has no end.
    """
    (folder / "topics").mkdir(parents=True, exist_ok=True)
    file = {"name": name, "title": web.title, "warcs": ["pages.warc.gz"]}
    (folder / "web.toml").write_text(tomli_w.dumps({**file, "labels": "labels.tsv"}))
    for topic in web.topics:
        if web.seeds(topic, 1):
            text = web.topic_file(topic)
            (folder / "topics" / f"{topic}.toml").write_text(text, encoding="utf-8")
    robots = (f"http://{host}/robots.txt" for host in web.hosts)
    with (
        (folder / "pages.warc.gz").open("wb") as warc,
        (folder / "labels.tsv").open("w", encoding="utf-8") as labels,
    ):
        for url in chain(robots, web.urls(), web.detours()):
            warc.write(pack_response(as_response(url, settled(web, url))))
            labels.writelines(f"{url}\t{label}\n" for label in web.labels(url))
    return open_web(folder)


def write_static_site(web: MadeWeb, folder: Path, host: str = "") -> int:
    """Write one host's pages as plain files for any web server; returns how many.

    Without a name it is the largest host. A page at /a/ becomes a/index.html.
    """
    host = host or web.hosts[0]
    count = 0
    for url in chain([f"http://{host}/robots.txt"], urls_of(web, host)):
        answer = settled(web, url)
        if answer.status != 200:
            continue
        path = urlsplit(url).path.lstrip("/")
        file = folder / (
            f"{path}index.html" if path.endswith("/") or not path else path
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(answer.body)
        count += 1
    return count


def urls_of(web: MadeWeb, host: str) -> Iterator[str]:
    """The URLs of one host's pages."""
    start = f"http://{host}/"
    return (url for url in web.urls() if url.startswith(start))


def settled(web: MadeWeb, url: str) -> SyntheticAnswer:
    """The answer of a URL once its host no longer fails."""
    for attempt in range(ATTEMPTS):
        answer = web.respond(url, attempt)
        if answer.status != 500:
            break
    return answer


def as_response(url: str, answer: SyntheticAnswer) -> Response:
    """An answer as a fetched response."""
    return Response(url, answer.status, answer.headers, answer.body, MADE_AT)
