"""Writes 36 more topics on the web of schools, as topic files and as a web for the lab.

Keywords are those of judge_topics.py; seeds are the two pages of the label with most
links to and from them. After `python -m bench.more_topics -o more`, these compare the
same crawls:

    opilio lab compare --web ../shared/webs/schools --topics-dir more/topics
    opilio lab compare --web more
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from bench.judge_topics import MORE
from opilio.lab.labels import read_labels, relevant_urls
from opilio.lab.web_pages import open_atlas
from opilio.lab.webs import LabWeb, open_web

WEB = Path(__file__).resolve().parents[2] / "shared/webs/schools"
SEEDS = 2

Topics = Mapping[str, Sequence[str]]  # label -> keywords


def main() -> None:
    """Write web.toml and the topics."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="the same as -o")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR")
    parser.add_argument("--web", type=Path, default=WEB, metavar="DIR")
    given = parser.parse_args()
    folder = given.output or given.folder
    if folder is None:
        parser.error("name a folder for the topics: -o DIR")
    write(open_web(given.web), folder)


def write(web: LabWeb, folder: Path, wanted: Topics = MORE) -> None:
    """Write the topics on this web, with a web.toml that names its files."""
    topics = folder / "topics"
    topics.mkdir(parents=True, exist_ok=True)
    title = f"{web.title}, {len(wanted)} more topics"
    file = {"name": f"{web.name}-more", "title": title}
    warcs = [str(path.absolute()) for path in web.warcs]
    files = {"warcs": warcs, "labels": str(web.labels.absolute())}
    (folder / "web.toml").write_text(tomli_w.dumps({**file, **files}))
    for name, topic in more_topics(web, wanted):
        (topics / f"{name}.toml").write_text(tomli_w.dumps(topic))


def more_topics(web: LabWeb, wanted: Topics) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of each topic file and what it says."""
    atlas, labels = open_atlas(web.warcs), read_labels(web.labels)
    linked = np.bincount(atlas.graph.targets, minlength=len(atlas.seen))
    central = np.minimum(linked, np.diff(atlas.graph.offsets))
    for label, keywords in wanted.items():
        pages = [url for url in relevant_urls(labels, [label]) if url in atlas.numbers]
        pages.sort(key=lambda url: (-central[atlas.numbers[url]], url))
        yield (
            label.replace(".", "-"),
            {
                "name": label.rpartition(".")[2].lower(),
                "keywords": list(keywords),
                "seeds": pages[:SEEDS],
                "evaluation": {"relevant_labels": [label]},
            },
        )


if __name__ == "__main__":
    main()
