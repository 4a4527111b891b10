"""Kumar & Vig's figure 3: three crawlers on a web with a fifth of its pages mixed.

The baseline is best-first by keywords. MCORE with and without transcription differ only
in the dictionary: both have the ontology and, as in the paper, classes of example pages
with the rules between them. A fourth curve, MCORE without the rules, shows what the
rules contribute. On most webs a page links to pages like itself, which its words tell
as well; so there are two webs on which pages of one topic lead to the next topic: on
"classes" few anchors tell where, on "mute anchors" none do. On the synthetic webs,
whose Hindi words are their own, the dictionary and the ontology are made from the web's
lexicon: all terms, Hindi with their English, and each topic a whole that its terms are
parts of. Other webs come with a dictionary and without an ontology; there the keywords
are the importance table.
"""

from __future__ import annotations

from functools import partial

from opilio.lab.compare import Done
from opilio.lab.reproduce.arms import (
    ExperimentArm,
    Tables,
    figures_of,
    found_within,
    mean_recall,
    rewritten,
)
from opilio.lab.reproduce.class_examples import write_examples
from opilio.lab.reproduce.experiment import Claim, Experiment, Figures, Setting
from opilio.lab.reproduce.lexicon_files import ontology_of, write_dictionary
from opilio.lab.synthetic.dials import Dials

BASELINE, ENGLISH, MIXED = "best-first", "mcore, no transcription", "mcore"
NO_RULES = "mcore, no rules"
MARKS = (25, 50, 75)  # per cent of the budget


def crawl(setting: Setting) -> list[Figures]:
    """The three curves, and that without rules."""
    rich = rewritten(
        setting.ground, setting.folder / "topics", partial(enriched, setting)
    )
    arms = (
        ExperimentArm(BASELINE, "best-first"),
        ExperimentArm(ENGLISH, "mcore,transcription=false", rich),
        ExperimentArm(MIXED, "mcore", rich),
        ExperimentArm(NO_RULES, "mcore,look_ahead=false", rich),
    )
    return figures_of(setting, arms, values)


def values(done: Done) -> dict[str, float | None]:
    """Harvest and recall, and recall on the way."""
    measures = done.run.measures
    on_the_way = {f"recall {mark} %": found_within(done, mark / 100) for mark in MARKS}
    return {
        "harvest": measures.harvest,
        **on_the_way,
        "recall": measures.recall,
        "mean recall": mean_recall(done),
    }


def enriched(setting: Setting, name: str, tables: Tables) -> Tables:
    """A topic with classes, a dictionary and, if it is of the lexicon, an ontology."""
    examples = write_examples(setting.ground, setting.folder / "train0")
    classes = {"classes": {"folder": str(examples), "target": name}}
    if setting.dictionary:
        meanings = {"hi": str(setting.dictionary.absolute())}
        return {**tables, **classes, "dictionary": meanings}
    return {
        **tables,
        **classes,
        **ontology_of(setting.folder, name),
        "dictionary": {"hi": str(write_dictionary(setting.folder))},
    }


EXPERIMENT = Experiment(
    letter="A",
    paper="Kumar & Vig, MCORE: transcription on a web with 20 % mixed pages",
    webs={
        "many links": Dials(pages=1_500, hosts=30, hindi=0.2),
        "few links": Dials(pages=1_500, hosts=30, hindi=0.2, links=4),
        "classes": Dials(
            pages=1_500,
            hosts=30,
            hindi=0.2,
            locality=0.2,
            next_topic=0.8,
            anchor_noise=0.8,
        ),
        "mute anchors": Dials(
            pages=1_500,
            hosts=30,
            hindi=0.2,
            links=20,
            locality=0.1,
            next_topic=0.95,
            anchor_noise=1.0,
        ),
    },
    topics=4,
    budget="2R",
    real_budget="2R",
    measures=(
        "harvest",
        *(f"recall {mark} %" for mark in MARKS),
        "recall",
        "mean recall",
    ),
    claims=(
        Claim("transcription helps on mixed pages", MIXED, ENGLISH, "mean recall"),
        Claim("MCORE beats the baseline", MIXED, BASELINE, "mean recall"),
        Claim(
            "so it does without transcription", ENGLISH, BASELINE, "mean recall", False
        ),
        Claim("the rules help", MIXED, NO_RULES, "mean recall", False),
    ),
    crawl=crawl,
)
