"""The options that `opilio lab run` and `opilio lab compare` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opilio.lab.seeds_and_targets import SeedsMode

MODELS = "Word vectors and models"
TOLD = "Examples and labels"

Webs = Annotated[
    list[Path],
    typer.Option(metavar="DIR", help="A web: a folder with web.toml; repeatable."),
]
Budget = Annotated[
    str,
    typer.Option(
        metavar="N|3R|25%",
        help="Requests of a crawl: a number, times the relevant pages, or a share of "
        "all pages.",
    ),
]
Repeat = Annotated[
    int, typer.Option(min=1, help="Repeat with other seeds and random choices.")
]
Modes = Annotated[
    list[SeedsMode], typer.Option(help="Seeds: the topic's, far away, or home pages.")
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="Crawls at a time; 0: one a core.")
]
TimeLimit = Annotated[
    float,
    typer.Option(
        min=0, metavar="SECONDS", help="Time limit of one crawl; 0: no limit."
    ),
]
TrainedWeights = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="Trained weights of the strategy and the judge `opilio`, made by "
        "`opilio lab train`. \\[default: those of the package]",
        show_default=False,
        rich_help_panel=MODELS,
    ),
]
Vectors = Annotated[
    str,
    typer.Option(
        metavar="auto|none|PATH",
        help="Word vectors: the best that are installed (auto), none, english, "
        "wordllama, or a table made by `opilio vectors build`.",
        rich_help_panel=MODELS,
    ),
]
EmbeddingModel = Annotated[
    str,
    typer.Option(
        metavar="PATH",
        help="The sentence model of the judge `embedding`: a folder, an .onnx file "
        "with its tokenizer.json beside it, or a jar with both.",
        show_default=False,
        rich_help_panel=MODELS,
    ),
]
LONG = 900.0  # seconds
Given = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Give each crawl N relevant pages as examples; they are not targets.",
        rich_help_panel=TOLD,
    ),
]
GivenOthers = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Also give each crawl N irrelevant pages.",
        rich_help_panel=TOLD,
    ),
]
Labels = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Tell each crawl the labels of N pages that it has fetched, while it "
        "runs.",
        rich_help_panel=TOLD,
    ),
]
TopicsDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="A folder of topic files to use instead of the web's own topics.",
    ),
]
