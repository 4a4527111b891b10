"""Exports runs as JSON lines, and all their requests as Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from opilio.errors import BadInput
from opilio.lab.compare import Done
from opilio.lab.runs import Run


def row(run: Run) -> dict[str, Any]:
    """One object per run, flat except for the oracle's measures."""
    plain: dict[str, Any] = msgspec.to_builtins(run)
    given = {name: plain.pop(name) for name in ("examples", "counterexamples")}
    task = plain.pop("task")
    return {
        **task.pop("conditions"),
        **task,
        "example_pages": given,
        "topic": Path(run.task.topic).stem,  # which may be a file
        **plain.pop("measures"),
        "share_of_oracle": run.of_oracle["aurc"],
        **plain,
    }


def row_with_pages(done: Done) -> dict[str, Any]:
    """The same with the URLs in the order of the requests."""
    return {**row(done.run), "pages": [visit.url for visit in done.trace.visits]}


def write_lines(rows: Iterator[dict[str, Any]], path: Path) -> None:
    """One JSON object per line."""
    draft = path.with_name(f"{path.name}.new")
    try:
        with draft.open("wb") as file:
            for each in rows:
                file.write(msgspec.json.encode(each) + b"\n")
        draft.replace(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}") from None


def write_pages(done: Sequence[Done], path: Path) -> None:
    """One row per request: the run, the URL, and whether it found a target."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise BadInput(
            "writing Parquet needs the extra `lab`: pip install 'opilio[lab]'"
        ) from None
    schema = pa.schema(
        [(name, pa.string()) for name in ("topic", "strategy", "judge", "seeds_mode")]
        + [("repeat", pa.int32()), ("request", pa.int32()), ("url", pa.string())]
        + [("state", pa.string()), ("reason", pa.string()), ("score", pa.float64())]
        + [("depth", pa.int32()), ("via", pa.int32()), ("found", pa.bool_())]
    )
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for each in done:
            rows = list(requests(each))
            writer.write_table(pa.Table.from_pylist(rows, schema))


def requests(done: Done) -> Iterator[dict[str, Any]]:
    """Each request of a run; `found`: it found a relevant page, by the labels."""
    task = msgspec.to_builtins(done.run.task)
    found = set(done.run.found_at)
    for number, visit in enumerate(done.trace.visits, 1):
        seen = msgspec.structs.asdict(visit)
        seen["via"] += 1  # requests count from 1; 0: a seed
        yield {**task, **seen, "request": number, "found": number in found}
