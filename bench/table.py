"""Prints aligned tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def show(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table: first column to the left, the others to the right."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    print(f"\n{title}\n")
    for number, line in enumerate(lines):
        cells = [line[0].ljust(widths[0])]
        cells += [
            cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)
        ]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
