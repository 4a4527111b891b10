"""Writes a dictionary and an ontology of the synthetic web's words.

Hindi words have their English meanings; each topic is a whole that its terms are parts
of, so that it has importance 1 and they have 0.8.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from opilio.lab.synthetic import lexicon

PREFIXES = (
    "@prefix : <http://example.org/lexicon#> .\n"
    "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    "@prefix dcterms: <http://purl.org/dc/terms/> .\n"
)


def write_dictionary(folder: Path) -> Path:
    """Every Hindi word of the web with what it means."""
    path = (folder / "hindi.tsv").absolute()
    pairs = [*lexicon.NOUNS.items()]
    for terms in lexicon.TOPICS.values():
        pairs += terms.items()
    path.write_text("".join(f"{hi}\t{en}\n" for en, hi in pairs), encoding="utf-8")
    return path


def ontology_of(folder: Path, topic: str) -> dict[str, Any]:
    """The table of a topic file that seeks this topic in the ontology of all."""
    path = (folder / "lexicon.ttl").absolute()
    lines = [PREFIXES]
    for name, terms in lexicon.TOPICS.items():
        lines.append(f':{name} skos:prefLabel "{name}"@en .\n')
        lines += [
            f':{name}{number} skos:prefLabel "{term}"@en ; dcterms:isPartOf :{name} .\n'
            for number, term in enumerate(terms)
            if term != name
        ]
    path.write_text("".join(lines), encoding="utf-8")
    return {"ontology": {"files": [str(path)], "concepts": [topic]}}
