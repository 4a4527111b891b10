"""Is this link promising? One file a published algorithm; `STRATEGIES` names them."""

from collections.abc import Callable, Mapping

from opilio.strategies.best_first import BestFirst
from opilio.strategies.breadth_first import BreadthFirst
from opilio.types import Strategy

STRATEGIES: Mapping[str, Callable[[], Strategy]] = {
    "best-first": BestFirst,
    "breadth-first": BreadthFirst,
}

__all__ = ["STRATEGIES", "BestFirst", "BreadthFirst"]
