"""Koundal's table 2: breadth-first, PageRank and the ontology at 1,000 pages.

On the synthetic web the ontology is that of its lexicon (lexicon_files.py); on others
the keywords stand for it. The web has about 1,000 pages a topic, so that the share
found among 1,000 can be anything, as in the paper; other webs have fewer, and crawls of
as many pages as there are relevant ones.
"""

from __future__ import annotations

from functools import partial

from opilio.lab.compare import Done
from opilio.lab.reproduce.arms import ExperimentArm, Tables, figures_of, rewritten
from opilio.lab.reproduce.experiment import Claim, Experiment, Figures, Setting
from opilio.lab.reproduce.lexicon_files import ontology_of
from opilio.lab.synthetic.dials import Dials

BREADTH, PAGERANK, ONTOLOGY = "breadth-first", "pagerank", "ordering (ontology)"


def crawl(setting: Setting) -> list[Figures]:
    """The three rows."""
    topics = rewritten(
        setting.ground, setting.folder / "topics", partial(described, setting)
    )
    arms = (
        ExperimentArm(BREADTH, "breadth-first", topics),
        ExperimentArm(PAGERANK, "pagerank", topics),
        ExperimentArm(ONTOLOGY, "ordering", topics),
    )
    return figures_of(setting, arms, values)


def described(setting: Setting, name: str, tables: Tables) -> Tables:
    """A topic of the lexicon with its ontology; another as it is."""
    if not setting.synthetic:
        return tables
    return {**tables, **ontology_of(setting.folder, name)}


def values(done: Done) -> dict[str, float | None]:
    """Pages, those that are relevant, and their share."""
    run = done.run
    return {
        "pages": run.requests,
        "relevant": len(run.found_at),
        "harvest": run.measures.harvest,
    }


EXPERIMENT = Experiment(
    letter="B",
    paper="Koundal: breadth-first, PageRank and ontology at 1,000 pages",
    webs={"synthetic": Dials(pages=6_000, hosts=60, topics=6)},
    topics=3,
    budget="1000",
    real_budget="1R",
    measures=("pages", "relevant", "harvest"),
    claims=(
        Claim("the ontology beats PageRank", ONTOLOGY, PAGERANK, "harvest"),
        Claim("PageRank beats breadth-first", PAGERANK, BREADTH, "harvest"),
        Claim("the ontology beats breadth-first", ONTOLOGY, BREADTH, "harvest", False),
    ),
    crawl=crawl,
)
