"""Makes synthetic webs on disk and opens them for the experiments."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import msgspec

from opilio.lab import synthetic, webs
from opilio.lab.labels import read_labels
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.lab.web_pages import open_atlas
from opilio.lab.webs import LabWeb, open_web, write_web


def synthetic_ground(folder: Path, dials: Dials, jobs: int) -> Ground:
    """The web of these dials, written into the folder unless it is there already."""
    made_of = folder / "made-of"
    mark = mark_of(dials)
    if not (made_of.is_file() and made_of.read_text() == mark):
        shutil.rmtree(folder, ignore_errors=True)
        write_web(SyntheticWeb(dials), folder, folder.name)
        made_of.write_text(mark)
    return ground_of(folder, jobs)


def ground_of(folder: Path, jobs: int) -> Ground:
    """A web of a folder with its links and labels."""
    web = open_web(folder)
    return Ground(web, open_atlas(web.warcs, jobs=jobs), read_labels(web.labels))


def with_topics(ground: Ground, topics: dict[str, Path]) -> Ground:
    """The same web with other topic files, which its crawls cannot open either."""
    web: LabWeb = msgspec.structs.replace(ground.web, topics=topics)
    return Ground(web, ground.atlas, ground.labels)


def mark_of(dials: Dials) -> str:
    """The dials, and a fingerprint of the code that makes webs of them."""
    digest = hashlib.blake2b(digest_size=8)
    makers = [file for path in synthetic.__path__ for file in Path(path).glob("*.py")]
    for file in (*sorted(makers), Path(webs.__file__)):
        digest.update(file.read_bytes())
    return f"{msgspec.json.encode(dials).decode()}\n{digest.hexdigest()}\n"
