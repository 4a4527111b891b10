"""36 more topics on the web of schools, as a web for the lab.

Keywords are those of judge_topics.py; seeds are the two pages of the label that most
links lead to and from. Run it with `python -m bench.more_topics FOLDER`, then
`opilio lab compare --web FOLDER`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import tomli_w

from bench.judge_topics import MORE
from opilio.lab.atlas import open_atlas
from opilio.lab.labels import read_labels, relevant_urls
from opilio.lab.webs import open_web

WEB = Path(__file__).resolve().parents[2] / "shared/webs/schools"


def main(folder: str) -> None:
    """Write web.toml and the topics."""
    web = open_web(WEB)
    atlas, labels = open_atlas(web.warcs), read_labels(web.labels)
    linked = np.bincount(atlas.graph.targets, minlength=len(atlas.seen))
    central = np.minimum(linked, np.diff(atlas.graph.offsets))
    topics = Path(folder) / "topics"
    topics.mkdir(parents=True)
    file = {"name": "schools-more", "title": f"{web.title}, 36 more topics"}
    files = {"warcs": [str(web.warcs[0])], "labels": str(web.labels)}
    (topics.parent / "web.toml").write_text(tomli_w.dumps({**file, **files}))
    for label, keywords in MORE.items():
        pages = [url for url in relevant_urls(labels, [label]) if url in atlas.numbers]
        pages.sort(key=lambda url: (-central[atlas.numbers[url]], url))
        topic = {
            "name": label.rpartition(".")[2].lower(),
            "keywords": list(keywords),
            "seeds": pages[:2],
            "evaluation": {"relevant_labels": [label]},
        }
        name = label.replace(".", "-")
        (topics / f"{name}.toml").write_text(tomli_w.dumps(topic))


if __name__ == "__main__":
    main(*sys.argv[1:])
