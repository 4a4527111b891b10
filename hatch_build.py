"""Compiles what reads pages while Opilio is installed, if that is possible.

    _tidy       pages as the parser would write them, without the parser
    _walk       text, links, headings and regions, found on one walk
    _block_walk blocks of text, found in what the parser wrote
    _block_numbers  numbers that describe these blocks, and trees asked about them
    _kernels    words, looked up and counted
    _page_words words of a page, weighed and hashed
    _codes      vectors, stored in short codes
    _merges     words, split into pieces that have vectors
    _rows       links of pages and links that wait, for the default strategy
    _scores     features and promises of links that wait

Without a C compiler, or without Python's header files, nothing is compiled and Opilio
reads with the parser, Python and numpy alone: the same, in a longer time.
OPILIO_COMPILE=0 asks for that; OPILIO_COMPILE=1 makes a failure an error. CC names
another compiler. What earlier builds compiled is never packed into a wheel.
"""

import os
import shutil
import subprocess
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = tuple(
    f"src/opilio/{name}.pyx"
    for name in (
        "read/_kernels",
        "read/_tidy",
        "read/_walk",
        "read/main_content/_block_walk",
        "read/main_content/_block_numbers",
        "text/_page_words",
        "vectors/_codes",
        "vectors/_merges",
        "strategies/shared/chooser/_rows",
        "strategies/shared/chooser/_scores",
    )
)
CORES = os.cpu_count() or 1
FLAGS = ["-O3", "-fPIC", "-fno-strict-aliasing"]


class NotWanted(Exception):
    """Whoever installs asked for no compiling."""


class CustomBuildHook(BuildHookInterface):
    """Puts what is compiled beside its source, and into wheels."""

    def initialize(self, version: str, build_data: dict) -> None:
        """Called before the package is built, an editable one too."""
        wanted = os.environ.get("OPILIO_COMPILE", "")
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        sources = [Path(self.root, source) for source in SOURCES]
        targets = [source.with_suffix(suffix) for source in sources]
        try:
            if wanted == "0":
                raise NotWanted("OPILIO_COMPILE=0")
            compile_all(sources, targets, find_linker())
        except (OSError, subprocess.CalledProcessError, NotWanted) as error:
            if wanted == "1":
                raise
            if version == "editable":  # those of another edition are of no use
                for target in targets:
                    target.unlink(missing_ok=True)
            why = getattr(error, "stderr", b"") or str(error).encode()
            lines = why.decode(errors="replace").strip()[-500:]
            self.app.display_warning(
                "what tidies pages, walks through them and counts their words is not "
                f"compiled; the parser, Python and numpy do it, more slowly: {lines}"
            )
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        # Whatever else of the kind lies in the folder is excluded in pyproject.toml.
        for target in targets:
            inside = target.relative_to(Path(self.root, "src"))
            build_data["force_include"][str(target)] = str(inside)


def find_linker() -> list[str]:
    """The command that makes a library of C; OSError if there is no compiler."""
    if compiler := os.environ.get("CC"):
        linker = [*compiler.split(), "-shared"]
    else:
        linker = (sysconfig.get_config_var("LDSHARED") or "cc -shared").split()
        if not shutil.which(linker[0]):  # Python was built by another one
            linker[0] = "cc"
    if not shutil.which(linker[0]):
        raise FileNotFoundError(f"there is no C compiler ({linker[0]})")
    return linker


def compile_all(sources: list[Path], targets: list[Path], linker: list[str]) -> None:
    """From Cython to C one after another, from C to libraries on all cores."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(CORES) as pool:
        compiled = []
        for source, target in zip(sources, targets, strict=True):
            c_file = Path(folder, f"{source.stem}.c")
            translate(source, c_file)
            compiled.append(pool.submit(compile_library, c_file, target, linker))
        for each in compiled:
            each.result()


def translate(source: Path, c_file: Path) -> None:
    """Write a Cython file as C."""
    from Cython.Compiler.Main import CompilationOptions, compile_single

    options = CompilationOptions(output_file=str(c_file), language_level=3)
    parts = source.with_suffix("").parts
    name = ".".join(parts[source.parts.index("opilio") :])
    compile_single(str(source), options, full_module_name=name)


def compile_library(c_file: Path, target: Path, linker: list[str]) -> None:
    """Compile and link a file of C."""
    library = c_file.with_suffix(".so")
    include = f"-I{sysconfig.get_paths()['include']}"
    command = [*linker, *FLAGS, include, str(c_file), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    # Where it is in use, the old one stays until it is let go.
    fresh = target.with_suffix(".fresh")
    shutil.copy(library, fresh)
    fresh.replace(target)
