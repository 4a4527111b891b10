"""`opilio vectors`: makes tables of word vectors, and compares texts with them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from opilio.cli.terminal import stderr, stdout
from opilio.errors import BadInput
from opilio.vectors.files import read_table, resolve
from opilio.vectors.words import Vectors

MOST_TEXTS = 20

vectors_app = typer.Typer(
    name="vectors",
    help="Make a table of word vectors, or try one out.",
    no_args_is_help=True,
)


@vectors_app.command()
def build(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A sentence model: an ONNX file with its tokenizer.json beside it, "
            "or their folder.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The .npz file.")
    ],
) -> None:
    """Make a static table of word vectors from a sentence model in ONNX.

    Example:

        opilio vectors build all-MiniLM-L6-v2 -o minilm.npz
    """
    from opilio.vectors import distil

    with Progress(
        console=stderr, transient=True, disable=not stderr.is_terminal
    ) as bar:
        task = bar.add_task("pieces", total=None)
        source = distil.build(
            model, output, lambda done, of: bar.update(task, completed=done, total=of)
        )
    size = output.stat().st_size / 2**20
    stdout.print(f"{output}: {size:.1f} MB from {source}", markup=False, soft_wrap=True)


@vectors_app.command()
def show(
    table: Annotated[
        str,
        typer.Argument(
            metavar="PATH|english|wordllama",
            help="A table made by `build`, the English words, or wordllama.",
        ),
    ],
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="Texts to compare with each other."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a table of word vectors, and how similar it finds texts.

    Example:

        opilio vectors show wordllama beekeeping "honey bees" "football club"
    """
    given = texts or []
    if len(given) > MOST_TEXTS:
        raise BadInput(f"{len(given)} texts were given; at most {MOST_TEXTS} are read")
    found = read_table(resolve(table) or table)
    known = Vectors(found)
    similar = [
        (one, other, round(float(known.of(one) @ known.of(other)), 3))
        for one, other in combinations(given, 2)
    ]
    unknown = [text for text in given if not known.of(text).any()]
    told = {
        "source": known.source,
        "pieces": len(found.tokenizer.vocabulary),
        "dimensions": found.matrix.shape[1],
        "used": known.size,
    }
    if as_json:
        answer = {**told, "similar": similar, "unknown": unknown}
        typer.echo(msgspec.json.encode(answer).decode())
        return
    all_used = told["used"] == told["dimensions"]
    stdout.print(
        f"{known.source}: {told['pieces']:,} pieces of words, {told['dimensions']} "
        "dimensions" + ("" if all_used else f", of which {told['used']} are used"),
        markup=False,
        soft_wrap=True,
    )
    grid = Table(box=None, pad_edge=False, show_header=False)
    for one, other, cosine in similar:
        grid.add_row(f"{cosine:.2f}", Text(one), Text(other))
    if similar:
        stdout.print(grid)
    for text in unknown:
        stdout.print(f"no word of {text!r} is known", markup=False, soft_wrap=True)
