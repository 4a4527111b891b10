"""Compiles what reads pages with sanitizers, and fuzzes it.

    pip install cython
    python -m bench.sanitized FOLDER [SECONDS]

The source is copied to FOLDER and compiled there with the address and undefined
behaviour sanitizers of gcc. Then seeds of bench/fuzz_seeds are changed at random and
read, as `python -m bench.fuzz --mutate` does; a fault ends the program with a report.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLAGS = "-g -O0 -fPIC -shared -fno-strict-aliasing -fno-omit-frame-pointer"
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
TARGETS = ("html", "main-text", "urls")  # what reaches compiled code


def compile_all(folder: Path) -> None:
    """Compile what pages are read with, beside its source."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    include = sysconfig.get_path("include")
    for source in sorted((folder / "src/opilio/read").glob("*.pyx")):
        written = source.with_suffix(".c")
        cython = [sys.executable, "-m", "cython", "-3", str(source), "-o", str(written)]
        subprocess.run(cython, check=True)
        target = source.with_suffix(suffix)
        target.unlink(missing_ok=True)
        compiler = ["gcc", *FLAGS.split(), *SANITIZERS.split(), f"-I{include}"]
        command = [*compiler, str(written), "-o", str(target)]
        subprocess.run(command, check=True)
        print(f"compiled {target.name}", flush=True)


def library(name: str) -> str:
    """Where gcc keeps a library."""
    told = subprocess.run(
        ["gcc", f"-print-file-name={name}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.strip()


def main(place: str, seconds: int = 600) -> None:
    """Compile, and fuzz each target."""
    folder = Path(place)
    for part in ("src", "bench"):
        shutil.copytree(ROOT / part, folder / part, dirs_exist_ok=True)
    compile_all(folder)
    settings = {
        "PYTHONPATH": os.pathsep.join((str(folder / "src"), str(folder))),
        "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",  # Python frees little at its end
        "PYTHONMALLOC": "malloc",  # so that each object is seen
    }
    for target in TARGETS:
        command = [sys.executable, "-m", "bench.fuzz", "--mutate", target, str(seconds)]
        subprocess.run(command, env=os.environ | settings, cwd=folder, check=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
