"""The web that the crawls in tests/crawls-0.1 were made from, and copies of these.

Both crawls were made and stopped half-way by version 0.1.0.dev0:

    opilio crawl bees.toml -o bees --strategy opilio --judge opilio \\
        --vectors none --max-pages 8
    opilio search bees "queen bee"
    opilio crawl computers.toml -o computers --strategy website-model \\
        --judge ontoclassifier --vectors none --max-pages 5
"""

import shutil
from pathlib import Path

from opilio.lab.synthetic.small import SmallWeb, page

CRAWLS = Path(__file__).parent / "crawls-0.1"

BEES = (
    "The honey bee lives in a hive with its queen. ",
    "A colony stores honey in combs of wax. ",
    "Every keeper of bees looks into the hive in spring. ",
    "The queen bee lays eggs, and worker bees feed them. ",
)
SHIPS = (
    "A ship sails over the sea to the harbour. ",
    "The crew of the ship paints the mast. ",
)
COMPUTERS = (
    "The processor of a personal computer sits on the motherboard. ",
    "A CPU with a high clock speed needs memory that is fast. ",
    "This mainboard has a socket for an Athlon. ",
)
# More than one kind of text on each page: no two of them are near copies.
WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "glade",
    "heath",
    "inlet",
    "jetty",
    "knoll",
    "lagoon",
]


def text(sentences: tuple[str, ...], number: int) -> str:
    own = f"{WORDS[number % len(WORDS)]} " * (number + 4)
    return (
        "".join(sentences[(number + each) % len(sentences)] for each in range(12)) + own
    )


def site(
    host: str, name: str, sentences: tuple[str, ...], pages: int
) -> dict[str, str]:
    """A home page and the pages that it links to, each of which links to the next."""
    home = {f"/{n}": f"{name} {WORDS[n]}" for n in range(1, pages)}
    found = {f"http://{host}/": page(name, text(sentences, 0), home)}
    for n in range(1, pages):
        onward = {"/": "home", f"/{n % (pages - 1) + 1}": f"more {name}"}
        found[f"http://{host}/{n}"] = page(
            f"{name} {WORDS[n]}", text(sentences, n), onward
        )
    return found


def web() -> SmallWeb:
    """Everything that both crawls can reach."""
    start = {
        "http://hive.test/": "honey bees",
        "http://sea.test/": "ships",
        "http://pc.test/": "the CPU of a computer",
    }
    return SmallWeb(
        {"http://seed.test/": page("Start", "Some places to go to. ", start)}
        | site("hive.test", "honey bee", BEES, 9)
        | site("sea.test", "ship", SHIPS, 5)
        | site("pc.test", "processor", COMPUTERS, 7)
    )


def old_crawl(name: str, home: Path) -> Path:
    """A copy of a crawl folder that version 0.1.0.dev0 made."""
    return Path(shutil.copytree(CRAWLS / name, home / name))
