"""A small synthetic web for the lab, made once a session of tests."""

from __future__ import annotations

from pathlib import Path

from opilio.lab.labels import read_labels
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.lab.web_pages import open_atlas
from opilio.lab.webs import LabWeb, open_web, write_web

DIALS = Dials(pages=600, hosts=12, topics=4, seed=3)


def make_web(folder: Path, dials: Dials = DIALS) -> LabWeb:
    """A web of a few hundred pages."""
    return write_web(SyntheticWeb(dials), folder)


def ground_of(folder: Path) -> Ground:
    """The ground on a web that was written."""
    web = open_web(folder)
    return Ground(web, open_atlas(web.warcs), read_labels(web.labels))
