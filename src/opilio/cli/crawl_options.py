"""The options of `opilio crawl`, in the groups that its help shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from opilio.judge import JUDGES

CHOICE = "Choosing links and judging pages"
NETWORK = "Network"
LARGE = "Large crawls"
ARCHIVES = "Archives"

JUDGE_NAMES = ", ".join(dict.fromkeys(name.partition(",")[0] for name in JUDGES))

TopicOrFolder = Annotated[
    Path,
    typer.Argument(
        metavar="TOPIC.toml",
        help="A topic file, or the folder of a crawl to resume.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="The crawl's folder; an existing crawl is resumed. "
        "\\[default: TOPIC-crawl]",
    ),
]
MaxPages = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Stop after this many pages in all; 0: no limit. \\[default: 1000]",
    ),
]
MaxTime = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Stop after this time; the same command resumes the crawl. 0: no "
        "limit. \\[default: 0]",
    ),
]
SeedUrls = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="Also start here; may be repeated."),
]
SeedSources = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Take seeds from this seed source of an installed package, or from "
        "your own class as FILE.py:CLASS; may be repeated.",
    ),
]
ContactAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="A URL or e-mail address where you can be reached; part of the user "
        "agent. Required unless all seeds are on this machine.",
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Read more settings from this TOML file."),
]
ServeToo = Annotated[
    bool,
    typer.Option("--serve", help="Show the crawl in the browser while it runs."),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Delete the contents of the folder and start over."),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show the result only, no progress.")
]
StrategyName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How links are chosen: a name that `opilio strategies` lists, or "
        "your own class as FILE.py:CLASS. \\[default: opilio]",
        rich_help_panel=CHOICE,
    ),
]
StrategyOptions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="An option of the strategy; may be repeated.",
        rich_help_panel=CHOICE,
    ),
]
JudgeName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"How pages are judged: {JUDGE_NAMES}, the judge of an "
        "installed package, or your own class as FILE.py:CLASS.",
        rich_help_panel=CHOICE,
    ),
]
Haste = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="SHARE",
        help="0: visit the best links first, even if that takes long; 1: never "
        "wait for a better link. \\[default: 0.1]",
        rich_help_panel=CHOICE,
    ),
]
Breadth = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="SHARE",
        help="0: take pages wherever the best links are; 1: share the pages among "
        "many hosts. \\[default: 0]",
        rich_help_panel=CHOICE,
    ),
]
StopWhenDry = Annotated[
    bool | None,
    typer.Option(
        "--stop-when-dry/--no-stop-when-dry",
        help="Stop when little is left to find. \\[default: no]",
        rich_help_panel=CHOICE,
    ),
]
VectorsChoice = Annotated[
    str | None,
    typer.Option(
        metavar="auto|none|PATH",
        help="Word vectors: the best that are installed (auto), none, english, "
        "wordllama, or a table made by `opilio vectors build`. \\[default: auto]",
        rich_help_panel=CHOICE,
    ),
]
WeightsFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Trained weights of the strategy and the judge `opilio`, made by "
        "`opilio lab train`. \\[default: those of the package]",
        rich_help_panel=CHOICE,
    ),
]
EmbeddingModel = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="The sentence model of the judge `embedding`: a folder, an .onnx "
        "file with its tokenizer.json beside it, or a jar with both.",
        rich_help_panel=CHOICE,
    ),
]
Delay = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Wait this long between two requests to one host. \\[default: 1]",
        rich_help_panel=NETWORK,
    ),
]
AllowedNetworks = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CIDR",
        help="Allow requests to this private network; may be repeated.",
        rich_help_panel=NETWORK,
    ),
]
ProxyUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Send all requests through this proxy.",
        rich_help_panel=NETWORK,
    ),
]
Render = Annotated[
    Literal["never", "auto", "always"] | None,
    typer.Option(
        metavar="never|auto|always",
        help="Run the scripts of pages in a browser: of those that need it "
        "(auto), or of all. \\[default: never]",
        rich_help_panel=NETWORK,
    ),
]
ReaderCount = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Number of reader processes. \\[default: 1]",
        rich_help_panel=LARGE,
    ),
]
Capacity = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Links in the queue at a time, the best ones; the others are kept on "
        "disk until there is room. 0: no limit. \\[default: 0]",
        rich_help_panel=LARGE,
    ),
]
StoreDsn = Annotated[
    str | None,
    typer.Option(
        metavar="DSN",
        help="Work on the crawl in this PostgreSQL database, together with all "
        "others that run the same command: postgresql://USER@HOST/DATABASE.",
        rich_help_panel=LARGE,
    ),
]
ReplayFiles = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="WARC",
        help="Crawl these WARC files instead of the network; may be repeated.",
        rich_help_panel=ARCHIVES,
    ),
]
Online = Annotated[
    bool,
    typer.Option(
        "--online",
        help="With --replay: fetch what the WARC files lack from the web, and add "
        "it to them.",
        rich_help_panel=ARCHIVES,
    ),
]
