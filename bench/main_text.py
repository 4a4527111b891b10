"""Measures the extraction of main text where it is known, beside trafilatura's.

    python -m bench.main_text                    the packaged trees
    python -m bench.main_text --folds 4          trees that were trained on other sites
    python -m bench.main_text --train FILE.npz   train trees on all of the pages

The pages are those of ../shared/text, which have gold text and metadata, and its
`score.py` counts. The packaged trees have seen these pages, so `--folds` is the fair
measure. Needs: pip install trafilatura lxml-html-clean lightgbm
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib.util
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import turbohtml

from opilio.read.main_content import choose, extract, trees
from opilio.read.main_content.declared import declared_in
from opilio.read.main_content.features import describe
from opilio.read.main_content.outline import PageOutline
from opilio.read.main_content.page_kind import about_page
from opilio.read.main_content.walk import walk

SHARED = Path("../shared/text")
TODAY = date(2026, 11, 18)
ROUNDS, DEPTH = 80, 5
SETTINGS = {
    "objective": "binary",
    "learning_rate": 0.12,
    "num_leaves": 24,
    "max_depth": DEPTH,
    "min_data_in_leaf": 100,
    "feature_fraction": 0.25,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 15,
    "verbose": -1,
    "num_threads": 1,
    "seed": 1,
}
FIGURES = (
    "seg_p",
    "seg_r",
    "seg_f1",
    "sh_p",
    "sh_r",
    "sh_f1",
    "title",
    "author",
    "date",
)
INNER = 3  # folds within which the first trees answer for the second

_words = re.compile(r"\w+").findall


@dataclass
class Example:
    """A page with its gold text."""

    gold: dict[str, Any]
    markup: str
    outline: PageOutline
    rows: Any  # see features.py
    labels: Any  # share of each block's words that is main text; -1: unknown
    weights: Any


def main() -> None:
    """Print the table, or train."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--train", type=Path)
    parser.add_argument("--pages", type=Path, default=SHARED)
    asked = parser.parse_args()
    pages = list(load(asked.pages))
    if asked.train:
        first, second = fit_both([example(*page) for page in pages])
        save(asked.train, first, second)
        return
    score = scorer(asked.pages)
    print("who, half".ljust(22), *(name.rjust(8) for name in (*FIGURES, "cpu ms")))
    theirs = dict(trafilatura_answers(pages))
    ours = dict(folded_answers(pages, asked.folds) if asked.folds else answers(pages))
    for name, given in (("trafilatura", theirs), ("opilio", ours)):
        for half in (0, 1, None):
            some = [gold for gold, _ in pages if half in (None, half_of(gold))]
            found = score(some, given)
            mean = np.mean([given[gold["id"]]["cpu_ms"] for gold in some])
            label = f"{name} {'all' if half is None else 'AB'[half]}"
            cells = [f"{found[figure]:8.3f}" for figure in FIGURES]
            print(label.ljust(22), *cells, f"{mean:8.1f}")


def load(folder: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Every page: its gold and its markup."""
    with gzip.open(folder / "pages.jsonl.gz", "rt", encoding="utf-8") as file:
        markups = {row["id"]: row["html"] for row in map(json.loads, file)}
    with (folder / "gold.jsonl").open(encoding="utf-8") as file:
        for gold in map(json.loads, file):
            yield gold, markups[gold["id"]]


def scorer(folder: Path) -> Any:
    """The function that scores predictions."""
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score


def number_of(site: str, parts: int, salt: str = "") -> int:
    """The part that a site falls into."""
    return int(hashlib.md5((site + salt).encode()).hexdigest()[:8], 16) % parts


def half_of(gold: dict[str, Any]) -> int:
    """The half that a page belongs to, by its site."""
    return number_of(gold["site"], 2)


def answers(pages: Sequence[tuple[dict[str, Any], str]]) -> Iterator[tuple[str, Any]]:
    """What Opilio extracts from each page."""
    for gold, markup in pages:
        begun = time.process_time()
        found = extract.extract_markup(markup, gold["url"], TODAY)
        spent = 1000 * (time.process_time() - begun)
        yield (
            gold["id"],
            {
                "text": found.text,
                "title": found.title,
                "author": list(found.authors),
                "date": found.published,
                "cpu_ms": spent,
            },
        )


def trafilatura_answers(
    pages: Sequence[tuple[dict[str, Any], str]],
) -> Iterator[tuple[str, Any]]:
    """What trafilatura extracts."""
    from trafilatura import bare_extraction

    for gold, markup in pages:
        begun = time.process_time()
        found = bare_extraction(markup, url=gold["url"], with_metadata=True)
        spent = 1000 * (time.process_time() - begun)
        given = found.as_dict() if found else {}
        kept = {name: given.get(name) for name in ("text", "title", "author", "date")}
        yield gold["id"], {**kept, "cpu_ms": spent}


def folded_answers(
    pages: Sequence[tuple[dict[str, Any], str]], folds: int
) -> Iterator[tuple[str, Any]]:
    """What Opilio extracts with trees that have not seen the site."""
    examples = [example(*page) for page in pages]
    for fold in range(folds):
        ours = [one for one in examples if number_of(one.gold["site"], folds) == fold]
        others = [one for one in examples if number_of(one.gold["site"], folds) != fold]
        both = tuple(map(as_trees, fit_both(others)))
        choose.load_trees = lambda both=both: both
        yield from answers([(one.gold, one.markup) for one in ours])


def example(gold: dict[str, Any], markup: str) -> Example:
    """A page to learn from."""
    tidy = turbohtml.parse(
        markup, positions=False, scripting=True, allow_declarative_shadow_roots=False
    ).html
    outline, declared = walk(tidy), declared_in(tidy)
    about = about_page(gold["url"], declared.types(), declared.meta("og:type"))
    rows = describe(outline, declared.title, about) if outline.blocks else None
    labels = labels_of(outline, gold)
    return Example(
        gold, markup, outline, rows, labels, weights_of(outline, gold, labels)
    )


def labels_of(outline: PageOutline, gold: dict[str, Any]) -> Any:
    """The share of each block's words that is main text; -1 where it is unknown."""
    if not gold.get("text"):
        return labels_by_segments(outline, gold)
    wanted = _words(gold["text"])
    shingles = set(zip(*(wanted[n:] for n in range(4)), strict=False))
    words, owners = [], []
    for number, block in enumerate(outline.blocks):
        for word in _words(block.text):
            words.append(word)
            owners.append(number)
    totals = np.bincount(owners, minlength=len(outline.blocks)).astype(float)
    hits = np.zeros(len(outline.blocks))
    matcher = SequenceMatcher(None, words, wanted, autojunk=False)
    for start, _, size in matcher.get_matching_blocks():
        if size >= 2:
            np.add.at(hits, owners[start : start + size], 1)
        elif size and totals[owners[start]] == 1:
            hits[owners[start]] += 0.6
    labels = np.where(totals > 0, hits / np.maximum(totals, 1), -1)
    for number, block in enumerate(outline.blocks):
        said = _words(block.text)
        if len(said) >= 8:  # wherever in the gold text it stands
            its = list(zip(*(said[n:] for n in range(4)), strict=False))
            share = sum(one in shingles for one in its) / len(its)
            labels[number] = max(labels[number], share)
    return labels


def labels_by_segments(outline: PageOutline, gold: dict[str, Any]) -> Any:
    """Labels of the blocks that must or must not be there."""
    labels = np.full(len(outline.blocks), -1.0)
    segments = [
        (" ".join(segment.split()), value)
        for name, value in (("without", 0.0), ("with", 1.0))
        for segment in gold.get(name, ())
    ]
    for number, block in enumerate(outline.blocks):
        text = " ".join(block.text.split())
        for segment, value in segments:
            if segment in text:
                labels[number] = value
    return labels


def weights_of(outline: PageOutline, gold: dict[str, Any], labels: Any) -> Any:
    """How much each block counts: pages count alike, and long blocks more."""
    if not gold.get("text"):
        return np.full(len(outline.blocks), 0.6)
    sizes = np.array([len(_words(block.text)) for block in outline.blocks], float)
    whole = max(20, sizes[labels > 0.5].sum())
    return np.minimum(3, 10 * sizes / whole + 0.02)


def fit_both(examples: Sequence[Example]) -> tuple[Any, Any]:
    """The trees that look first, and those that also see what the first ones said."""
    told = [one for one in examples if one.rows is not None]
    said: dict[str, Any] = {}
    for fold in range(INNER):
        inside = [
            one for one in told if number_of(one.gold["site"], INNER, "in") == fold
        ]
        model = fit([one for one in told if one not in inside], {})
        for one in inside:
            chances = model.predict(one.rows)
            said[one.gold["id"]] = choose.answers(one.outline, chances)
    return fit(told, {}), fit(told, said)


def fit(examples: Sequence[Example], said: dict[str, Any]) -> Any:
    """Trees that learn from the labelled blocks."""
    import lightgbm

    rows, labels, weights = [], [], []
    for one in examples:
        known = one.labels >= 0
        its = one.rows
        if said:
            its = np.concatenate((its, said[one.gold["id"]]), axis=1)
        rows.append(its[known])
        labels.append(one.labels[known] > 0.5)
        weights.append(one.weights[known])
    data = lightgbm.Dataset(
        np.concatenate(rows), np.concatenate(labels), weight=np.concatenate(weights)
    )
    return lightgbm.train(SETTINGS, data, ROUNDS)


def as_trees(model: Any) -> trees.Trees:
    """The trees in the form in which they are asked."""
    told = model.dump_model()["tree_info"]
    questions = 2**DEPTH - 1
    columns = np.zeros((len(told), questions), np.int16)
    thresholds = np.full((len(told), questions), np.inf, np.float32)
    leaves = np.zeros((len(told), questions + 1), np.float32)
    for number, tree in enumerate(told):
        waiting = [(tree["tree_structure"], 0, 0)]
        while waiting:
            node, place, depth = waiting.pop()
            if "split_feature" in node:
                columns[number, place] = node["split_feature"]
                thresholds[number, place] = node["threshold"]
                waiting.append((node["left_child"], 2 * place + 1, depth + 1))
                waiting.append((node["right_child"], 2 * place + 2, depth + 1))
            else:
                below = 2 ** (DEPTH - depth)
                first = (place + 1) * below - 1 - questions
                leaves[number, first : first + below] = node["leaf_value"]
    return trees.Trees(columns, thresholds, leaves)


def save(path: Path, first: Any, second: Any) -> None:
    """Write both sets of trees to a file."""
    tables = {}
    for number, model in enumerate((first, second), 1):
        made = as_trees(model)
        tables[f"columns_{number}"] = made.columns
        tables[f"thresholds_{number}"] = made.thresholds
        tables[f"leaves_{number}"] = made.leaves
    np.savez_compressed(path, **tables)
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
