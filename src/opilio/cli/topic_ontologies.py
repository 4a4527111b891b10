"""Says which ontology files of a topic were chosen and why: `opilio topic show`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opilio.cli.terminal import foreign, stdout
from opilio.topic.ontology.names import STEMMED
from opilio.topic.ontology.repository import Match, Sought

SHOWN = 6  # terms of a file


def ontologies_of(sought: Sought) -> list[dict[str, Any]]:
    """Each ontology file, the best first: its score, and the terms taken from it."""
    sources = {one.name: one.source or one.name for one in sought.repository.ontologies}
    return [
        {
            "file": sources[name],
            "score": score,
            "concepts": [
                {"term": match.wanted, "concept": match.label, "by": found_by(match)}
                for match in sought.matches
                if match.ontology == name
            ],
        }
        for name, score in sought.scores.items()
    ]


def found_by(match: Match) -> str:
    """How a term led to its concept."""
    if match.sure >= 1:
        return "its label"
    return "another form of its label" if match.sure >= STEMMED else "words of it"


def show_ontologies(found: Sequence[Mapping[str, Any]]) -> None:
    """Print the files that were chosen, and those that were not."""
    stdout.print()
    stdout.print("[bold]Ontology files[/] and how well they know the terms (at most 1)")
    for one in found:
        concepts = one["concepts"]
        told = f"{one['score']:.3f} {Path(one['file']).name}: "
        if not concepts:
            reason = "another file knows its terms as surely" if one["score"] else ""
            told += f"not used, {reason or 'knows none of the terms'}"
        else:
            told += "chosen for " + ", ".join(
                f"{each['term']} → {each['concept']} ({each['by']})"
                for each in concepts[:SHOWN]
            )
            rest = len(concepts) - SHOWN
            told += f" and {rest:,} more" if rest > 0 else ""
        stdout.print(foreign(told), soft_wrap=True)
