"""Yang's search agent without its users: does a website-model crawl answer better?

The paper asks people how satisfied they are with the first pages of each answer. Here
labels judge instead: a crawl by `website-model` and a plain one, breadth-first, collect
as many pages of the same web, both are searched with the same queries, and a result
counts if its label is that of the topic (precision at 10, as a share of 10 even if
fewer are found). The queries are the keywords of each topic, and pairs of them, until
there are QUERIES of a topic; with five topics that makes 40.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import msgspec

from opilio.api import Crawl
from opilio.lab.labels import relevant_urls
from opilio.lab.reproduce.experiment import Claim, Experiment, Figures, Setting
from opilio.lab.synthetic.dials import Dials
from opilio.topic import Topic
from opilio.topic.file import Evaluation

PLAIN, MODEL = "plain crawl", "website-model crawl"
STRATEGIES = {PLAIN: "breadth-first", MODEL: "website-model"}
QUERIES = 8  # of a topic
RESULTS = 10

Answers = Mapping[str, Sequence[str]]
"""Query -> the URLs of its first results."""


def crawl(setting: Setting) -> list[Figures]:
    """Both crawls of every topic, searched."""
    ground = setting.ground
    pages = ground.requests(setting.budget, 0)
    figures = []
    for name in setting.topics:
        topic = ground.topic(name)
        wanted = set(relevant_urls(ground.labels, topic.evaluation.relevant_labels))
        for arm in STRATEGIES:
            found, kept = answers(arm, bare(topic), ground.web.warcs, pages)
            figures += [
                Figures(
                    arm,
                    f"{ground.web.name} {name}: {query}",
                    {
                        "P@10": precision(urls, wanted),
                        "relevant kept": len(wanted & kept),
                    },
                )
                for query, urls in found.items()
            ]
    return figures


def bare(topic: Topic) -> Topic:
    """A topic without what the lab knows."""
    return msgspec.structs.replace(topic, evaluation=Evaluation())


def answers(
    arm: str, topic: Topic, warcs: Sequence[Path], pages: int
) -> tuple[Answers, set[str]]:
    """Crawl, then search; also the pages that the crawl kept. It is an ordinary crawl
    with readers and an index, so it does not run in the lab's guarded processes; it is
    given no labels."""
    with tempfile.TemporaryDirectory(prefix="opilio-agent-") as folder:
        collected = Crawl(
            Path(folder) / "crawl",
            topic,
            strategy=STRATEGIES[arm],
            judge="cosine",
            replay=warcs,
            max_pages=pages,
            min_free=0,
        )
        collected.run()
        found = {
            query: [hit.url for hit in collected.search(query, size=RESULTS).hits]
            for query in queries(topic)
        }
        return found, {page.url for page in collected.pages(relevant=True)}


def queries(topic: Topic) -> list[str]:
    """What users ask for: keywords, then pairs of them.

    >>> queries(Topic(name="bees", keywords=("bee", "hive")))
    ['bee', 'hive', 'bee hive']
    """
    words = list(topic.weights())
    pairs = [" ".join(pair) for pair in combinations(words, 2)]
    return [*words, *pairs][:QUERIES]


def precision(urls: Sequence[str], wanted: set[str]) -> float:
    """The share of ten results that are relevant."""
    return sum(url in wanted for url in urls[:RESULTS]) / RESULTS


EXPERIMENT = Experiment(
    letter="C",
    paper="Yang: search over a website-model crawl and over a plain one",
    webs={"synthetic": Dials(pages=3_000, hosts=40, topics=5)},
    topics=5,
    budget="300",
    real_budget="300",
    measures=("P@10", "relevant kept"),
    claims=(
        Claim("the website-model crawl answers better", MODEL, PLAIN, "P@10"),
        Claim(
            "it keeps more of what is relevant", MODEL, PLAIN, "relevant kept", False
        ),
    ),
    crawl=crawl,
)
