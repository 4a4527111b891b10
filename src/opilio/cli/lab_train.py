"""`opilio lab train`: trains the weights of the default strategy and judge."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from opilio.cli.lab_runs import cores, locked, open_grounds, say
from opilio.cli.terminal import stdout
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.training.train import (
    TrainingLesson,
    assembled,
    left_out,
    lessons,
    quality,
    train,
    write_weights,
)
from opilio.pretrained import Weights, load_weights
from opilio.vectors.files import AUTO, NONE, resolve


def train_weights(
    webs: Annotated[
        list[Path],
        typer.Option("--web", metavar="DIR", help="A web to train on; repeatable."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The weights file.")
    ],
    topics: Annotated[
        list[str] | None,
        typer.Option("--topic", help="Only these topics; repeatable."),
    ] = None,
    weights: Annotated[
        str, typer.Option(metavar="FILE", help="Start from these weights.")
    ] = "",
    vectors: Annotated[
        str, typer.Option(help="Word vectors to train with: auto or a path.")
    ] = AUTO,
    budget: Annotated[
        str, typer.Option(metavar="N|3R|25%", help="Requests of a crawl.")
    ] = "3R",
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", min=0, help="Crawls at a time; 0: one a core."),
    ] = 0,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Cache pages that were read here."),
    ] = None,
) -> None:
    """Train the weights of the strategy and the judge `opilio` on webs with labels.

    Every topic is crawled, with word vectors and without. The weights are tested on
    topics and on webs that were left out, and written to a file with where they come
    from. Use it with: opilio crawl --weights FILE

    Examples:

        opilio lab train --web my-web --web other-web -o weights.json
    """
    began = time.monotonic()
    grounds = open_grounds(webs, topics or (), jobs or cores())
    made: dict[str, Weights] = {}
    told: dict[str, object] = {}
    with locked(folder) as place:
        for name, setting in (("with vectors", vectors), ("without vectors", NONE)):
            if setting != NONE and not resolve(setting):
                say("No word vectors are installed; training without them only.")
                continue
            say(f"Crawling {name}.")
            seen = list(
                lessons(
                    grounds,
                    place / "readings",
                    vectors=setting,
                    weights=weights,
                    budget=budget,
                    jobs=jobs or cores(),
                    tell=say,
                )
            )
            before = load_weights(weights)
            start = before.without_vectors if setting == NONE else before.with_vectors
            made[name] = train(seen, start)
            told[name] = report(name, seen, start, made[name])
    provenance = {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "webs": facts(grounds),
        "budget": budget,
        "vectors": resolve(vectors),
        "average precision": told,
    }
    file = assembled(made.get("with vectors"), made.get("without vectors"), provenance)
    write_weights(output, file)
    stdout.print(f"{output}: trained in {time.monotonic() - began:,.0f} s")


def facts(grounds: Sequence[tuple[Ground, Sequence[str]]]) -> Mapping[str, object]:
    """Which topics of which webs were trained on."""
    return {
        ground.web.name: [Path(topic).stem for topic in topics]
        for ground, topics in grounds
    }


def report(
    name: str, seen: Sequence[TrainingLesson], before: Weights, made: Weights
) -> Mapping[str, object]:
    """Print and return how well the weights order links and pages left out."""
    stdout.print(f"\n[bold]Average precision {name}[/], links / pages, by web")
    told: dict[str, object] = {}
    tests = [("before", seen, before), ("trained, on the same", seen, made)]
    tests += [
        (f"left out: {what}", out, each) for what, out, each in left_out(seen, before)
    ]
    for what, lessons_, each in tests:
        found = quality(lessons_, each)
        told[what] = {"links": found.links, "pages": found.pages}
        figures = "  ".join(
            f"{web} {found.links.get(web, 0):.3f}/{found.pages.get(web, 0):.3f}"
            for web in sorted({*found.links, *found.pages})
        )
        stdout.print(f"  {what:<28} {figures}", markup=False, soft_wrap=True)
    return told
