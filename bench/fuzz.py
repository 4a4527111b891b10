"""Fuzzes what reads the files and pages of strangers.

    pip install atheris
    python -m bench.fuzz TARGET [SECONDS]    # one of bench.fuzz_targets, or all
    python -m bench.fuzz --mutate TARGET [SECONDS]

Inputs begin with those of bench/fuzz_seeds/TARGET, which a test runs, too. An input
that fails is printed and written to crash-*; when it is fixed, it becomes a seed.
`--mutate` needs no atheris and looks at no coverage: for builds with sanitizers, see
docs/security.md.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

SEEDS = Path(__file__).with_name("fuzz_seeds")
LONGEST = 4096
SECONDS = 600


def main() -> None:
    """Fuzz one target, or all of them one after another."""
    mutating = sys.argv[1:2] == ["--mutate"]
    name, *more = sys.argv[1 + mutating :]
    seconds = int(more[0]) if more else SECONDS
    if name == "all":
        for each in sorted(path.name for path in SEEDS.iterdir()):
            way = ["--mutate"] if mutating else []
            command = [sys.executable, "-m", "bench.fuzz", *way, each, str(seconds)]
            code = subprocess.run(command, check=False).returncode
            print(f"{each}: {'found something' if code else 'nothing'}", flush=True)
    elif mutating:
        mutate(name, seconds)
    else:
        cover(name, seconds)


def cover(name: str, seconds: int) -> None:
    """Fuzz guided by coverage."""
    os.environ["RUST_BACKTRACE"] = "0"  # fastobo panics often, and traces take long
    import atheris  # type: ignore[import-not-found, unused-ignore]

    with atheris.instrument_imports(include=["opilio"]):
        from bench.fuzz_targets import TARGETS
    found = Path(os.environ.get("FUZZ_CORPUS", "/tmp/opilio-fuzz")) / name
    found.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        "-timeout=20",
        "-rss_limit_mb=3000",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(found), str(SEEDS / name)], TARGETS[name])
    atheris.Fuzz()


def mutate(name: str, seconds: int) -> None:
    """Fuzz with seeds that are cut, repeated, spliced and changed at random."""
    from bench.fuzz_targets import TARGETS  # atheris must be there before it

    rng, count, until = random.Random(name), 0, time.monotonic() + seconds
    inputs = [path.read_bytes() for path in sorted((SEEDS / name).iterdir())]
    while time.monotonic() < until:
        data = changed(rng, inputs)
        try:
            TARGETS[name](data)
        except BaseException:
            Path(f"crash-{name}").write_bytes(data)
            print(repr(data))
            raise
        count += 1
    print(f"{name}: {count:,} inputs")


def changed(rng: random.Random, inputs: list[bytes]) -> bytes:
    """An input that was changed a few times."""
    data = bytearray(rng.choice(inputs) or b" ")
    for _ in range(rng.randint(1, 12)):
        place = rng.randrange(len(data) + 1)
        other = rng.choice(inputs)
        start = rng.randrange(len(other) + 1)
        match rng.randrange(5):
            case 0:
                data[place : place + 1] = bytes((rng.randrange(256),))
            case 1:
                del data[place : place + rng.randint(1, 40)]
            case 2:
                data[place:place] = other[start : start + rng.randint(1, 80)]
            case 3:
                data[place:place] = data[place : place + 8] * rng.randint(1, 30)
            case 4:
                data[place:] = other[start:]
    return bytes(data[:LONGEST])


if __name__ == "__main__":
    main()
