"""Is this link promising? One file a published algorithm; `strategies()` names them.

A package of someone else's adds its own by an entry point of the group
`opilio.strategies`: a name, and the class.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from opilio.errors import BadInput
from opilio.protocols import Strategy
from opilio.records import Knowledge
from opilio.settings import Section

GROUP = "opilio.strategies"
DEFAULT = "opilio"

# Name -> module:class; imported when chosen, since some need much.
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
    from importlib.metadata import entry_points  # it takes its time, as does looking

    found = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    return {**found, **{name: place_of(name) for name in OURS}}


def place_of(name: str) -> str:
    """The module:class of a strategy, if it is one of ours; else ""."""
    return f"opilio.strategies.{OURS[name]}" if name in OURS else ""


def is_file(name: str) -> bool:
    """Does it name a class in a file, my_strategy.py:MyStrategy?"""
    return ".py:" in name


def load_strategy(place: str) -> MakesStrategy:
    """The class that `module:class` or `file.py:class` names."""
    module, _, name = place.rpartition(":")
    try:
        found = from_file(Path(module)) if is_file(place) else import_module(module)
        made: MakesStrategy = getattr(found, name)
    except Exception as error:  # whatever the package of someone else raises
        raise BadInput(
            f"the strategy at {place} cannot be loaded: {error}; mend or remove the "
            "package or file that it comes from"
        ) from error
    return made


def from_file(path: Path) -> ModuleType:
    """A file of Python as a module."""
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"{path} is not there")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
