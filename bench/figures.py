"""Draws the curve of every strategy for its page in the docs.

Reads the folder of a comparison and writes docs/strategies/curves/NAME.svg. Run it with
`python -m bench.figures lab-schools` after `opilio lab compare -o lab-schools …`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from opilio.lab.compare import Done
from opilio.lab.report import strategy_figure

CURVES = Path(__file__).resolve().parents[1] / "docs/strategies/curves"


def main(folder: str) -> None:
    """Draw one figure per strategy."""
    files = sorted((Path(folder) / "runs").glob("*.json"))
    runs = [msgspec.json.decode(file.read_bytes(), type=Done).run for file in files]
    CURVES.mkdir(exist_ok=True)
    for strategy in sorted({run.task.strategy for run in runs}):
        strategy_figure(runs, strategy, CURVES / f"{strategy}.svg")
        print(CURVES / f"{strategy}.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
