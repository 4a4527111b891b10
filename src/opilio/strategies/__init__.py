"""The strategies, which decide how promising a link is: one module per algorithm.

`strategies()` lists them. Other packages add theirs by an entry point of the group
`opilio.strategies`: a name, and the class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from opilio import extensions
from opilio.protocols import Strategy
from opilio.records import Knowledge
from opilio.settings import Section

DEFAULT = "opilio"

# Name -> module:class; imported when chosen, since some are slow to import.
OURS = {
    "ache": "ache:Ache",
    "apprentice": "apprentice:Apprentice",
    "backlink-count": "backlink_count:BacklinkCount",
    "best-first": "best_first:BestFirst",
    "best-n-first": "best_n_first:BestNFirst",
    "blocks": "blocks:Blocks",
    "breadth-first": "breadth_first:BreadthFirst",
    "context-graph": "context_graph:ContextGraph",
    "depth-first": "depth_first:DepthFirst",
    "fish-search": "fish_search:FishSearch",
    "host-bandit": "host_bandit:HostBandit",
    "infospiders": "infospiders:InfoSpiders",
    "mcore": "mcore:Mcore",
    "opic": "opic:Opic",
    "opilio": "opilio:Opilio",
    "ordering": "ordering:Ordering",
    "otie": "otie:Otie",
    "pagerank": "pagerank:ByPageRank",
    "random": "random:Random",
    "shark-search": "shark_search:SharkSearch",
    "soft-focus": "soft_focus:SoftFocus",
    "tag-path-bandit": "tag_path_bandit:TagPathBandit",
    "website-model": "website_model:WebsiteModel",
    "weight-table": "weight_table:WeightTable",
}


class MakesStrategy(Protocol):
    """The class of a strategy."""

    __doc__: str | None

    @property
    def Options(self) -> type[Section]: ...  # noqa: N802

    def __call__(self, options: Any, knowledge: Knowledge) -> Strategy: ...


def strategies() -> Mapping[str, str]:
    """The name of each strategy -> module:class, ours first."""
    found = extensions.installed("strategy")
    return {**found, **{name: class_of_strategy(name) for name in OURS}}


def class_of_strategy(name: str) -> str:
    """The module:class of a strategy, if it is one of ours; else ""."""
    return f"opilio.strategies.{OURS[name]}" if name in OURS else ""


def load_strategy(place: str) -> MakesStrategy:
    """The class that `module:class` or `file.py:class` names."""
    made: MakesStrategy = extensions.load("strategy", place)
    return made
