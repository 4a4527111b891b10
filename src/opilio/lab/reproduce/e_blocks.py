"""Aastha's thesis: blocks of pages and tunnels, each with and without the other.

The thesis has no figures; it argues (4.7) that parts of a page hide each other's
relevance, and that relevant pages lie behind irrelevant ones. So the web has both: a
third of its pages treat several topics, each under a heading, and a tenth can only be
reached through three irrelevant pages in a row. Crawls continue until nothing is left
to visit, because pages behind a tunnel come last in any good order.
"""

from __future__ import annotations

from opilio.lab.compare import Done
from opilio.lab.reproduce.arms import ExperimentArm, figures_of
from opilio.lab.reproduce.experiment import Claim, Experiment, Figures, Setting
from opilio.lab.synthetic.dials import Dials

NEITHER, BLOCKS = "neither", "blocks only"
TUNNELS, BOTH = "tunnels only", "blocks and tunnels"
BEST_FIRST = "best-first"
ARMS = (
    ExperimentArm(BEST_FIRST, "best-first"),
    ExperimentArm(NEITHER, "blocks,partition=false,tunnelling=false"),
    ExperimentArm(BLOCKS, "blocks,tunnelling=false"),
    ExperimentArm(TUNNELS, "blocks,partition=false"),
    ExperimentArm(BOTH, "blocks"),
)


def crawl(setting: Setting) -> list[Figures]:
    """The four combinations, and a crawler without either."""
    return figures_of(setting, ARMS, values)


def values(done: Done) -> dict[str, float | None]:
    """The thesis's measures (4.7.1), and how soon and by which way they came."""
    measures = done.run.measures
    return {
        "requests": done.run.requests,
        "AURC": measures.aurc,
        "target recall": measures.recall,
        "target length": measures.target_length,
        "through irrelevant": measures.through_irrelevant,
    }


EXPERIMENT = Experiment(
    letter="E",
    paper="Aastha: blocks and tunnels, with and without",
    webs={"synthetic": Dials(pages=1_000, hosts=20, mixed=0.3, hidden=0.1)},
    topics=3,
    budget="100%",
    real_budget="3R",
    measures=(
        "requests",
        "AURC",
        "target recall",
        "target length",
        "through irrelevant",
    ),
    claims=(
        Claim("tunnelling finds more targets", BOTH, BLOCKS, "target recall"),
        Claim("so it does without blocks", TUNNELS, NEITHER, "target recall"),
        Claim("blocks find targets sooner", BOTH, TUNNELS, "AURC"),
        Claim("so they do without tunnels", BLOCKS, NEITHER, "AURC", False),
        Claim("blocks find more targets", BOTH, TUNNELS, "target recall", False),
        Claim("both beat best-first", BOTH, BEST_FIRST, "AURC", False),
    ),
    crawl=crawl,
)
