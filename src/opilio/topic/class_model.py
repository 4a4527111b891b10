"""A page classifier: how likely a page belongs to each class.

Multinomial logistic regression on the words of a page:

    Pr(k | page) = exp(w_k · x + b_k) / Σj exp(w_j · x + b_j)

Symbols: x has 1 + ln(count) for each stem of the page, and length 1; its places are
the stems' hashes, reduced to a fixed width. All w and b are scaled so that the
probabilities fit pages that were left out, in five parts.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt

from opilio.errors import BadInput
from opilio.records import Page

WIDTH = 2**18
INVERSE_REGULARISATION = 10.0  # C of scikit-learn
ROUNDS = 1000
FOLDS = 5
SCALES = tuple(2 ** (step / 2) for step in range(9))  # 1 to 16

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]


class ClassModel:
    """How likely a page is of each class."""

    def __init__(self, classes: Sequence[str], weights: Floats, bias: Floats) -> None:
        self.classes = tuple(classes)
        self.weights = weights  # a row per class, WIDTH columns
        self.bias = bias

    def distribution(self, page: Page) -> dict[str, float]:
        """Pr(class | page) of each class; the sum is 1."""
        places, values = vector(page)
        scores = (self.weights[:, places] @ values + self.bias).astype(np.float64)
        likely = np.exp(scores - scores.max())
        return dict(zip(self.classes, (likely / likely.sum()).tolist(), strict=True))

    def classify(self, page: Page) -> str:
        """The likeliest class of a page."""
        likely = self.distribution(page)
        return max(likely, key=likely.__getitem__)

    def dump(self) -> bytes:
        """The model as an npz file, the same for the same model."""
        used = np.flatnonzero(self.weights.any(axis=0))
        file = BytesIO()
        np.savez_compressed(
            file,
            classes=np.array(self.classes, dtype=np.str_),
            places=used.astype(np.int64),
            weights=self.weights[:, used],
            bias=self.bias,
        )
        return file.getvalue()


def load_classes(dumped: bytes, name: str = "the class model") -> ClassModel:
    """Load what `ClassModel.dump` returned; BadInput for anything else."""
    try:
        with np.load(BytesIO(dumped), allow_pickle=False) as file:
            classes = [str(each) for each in file["classes"]]
            weights = np.zeros((len(classes), WIDTH), np.float32)
            weights[:, file["places"]] = file["weights"]
            bias = file["bias"].astype(np.float32)
        if bias.shape != (len(classes),) or not classes:
            raise ValueError(f"{len(classes)} classes, {bias.size} of their values")
    except (ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
        raise BadInput(
            f"{name}: {error}; remove it, and the crawl learns the classes again"
        ) from None
    return ClassModel(classes, weights, bias)


def learn_classes(pages: Sequence[tuple[str, Page]]) -> ClassModel:
    """Learn a model from pages of two or more known classes."""
    try:
        from scipy.sparse import csr_array
    except ImportError:
        message = '[classes] needs scikit-learn: pip install "opilio[learn]"'
        raise BadInput(message) from None
    classes = sorted({name for name, _ in pages})
    if len(classes) < 2:
        raise BadInput(f"[classes] needs two or more classes, not {len(classes)}")
    rows = [vector(page) for _, page in pages]
    ends = np.cumsum([0, *(len(places) for places, _ in rows)])
    if not ends[-1]:
        raise BadInput("no example page has any words; give other pages")
    # Columns of words that no page has would only cost time.
    used, columns = np.unique(
        np.concatenate([places for places, _ in rows]), return_inverse=True
    )
    values = np.concatenate([values for _, values in rows])
    matrix = csr_array((values, columns, ends), shape=(len(rows), len(used)))
    known = np.array([classes.index(name) for name, _ in pages])
    learnt, bias = fit(matrix, known, len(classes))
    scale = sharpness(matrix, known, len(classes))
    weights = np.zeros((len(classes), WIDTH), np.float32)
    weights[:, used] = scale * learnt
    return ClassModel(classes, weights, (scale * bias).astype(np.float32))


def fit(matrix: Any, known: Places, classes: int) -> tuple[Any, Any]:
    """The weights and the bias of each class; of one without pages, 0."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        C=INVERSE_REGULARISATION, class_weight="balanced", max_iter=ROUNDS
    ).fit(matrix, known)
    rows, offsets = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # for which there is one row, of the second
        rows, offsets = np.vstack([-rows / 2, rows / 2]), np.r_[-offsets, offsets] / 2
    learnt, bias = np.zeros((classes, matrix.shape[1])), np.zeros(classes)
    learnt[model.classes_], bias[model.classes_] = rows, offsets
    return learnt, bias


def sharpness(matrix: Any, known: Places, classes: int) -> float:
    """What to multiply scores with, so that they are right about pages they were not
    learnt from: with few examples for many words, regularisation makes all classes
    seem nearly as likely as each other."""
    folds = np.arange(len(known)) % FOLDS
    scores, true = [], []
    for fold in range(FOLDS):
        others = known[folds != fold]
        tested = (folds == fold) & np.isin(known, others)
        if tested.any() and len(set(others.tolist())) == classes:
            learnt, bias = fit(matrix[folds != fold], others, classes)
            scores.append(matrix[tested] @ learnt.T + bias)
            true.append(known[tested])
    if not scores:
        return 1.0
    held_out, right = np.vstack(scores), np.concatenate(true)

    def loss(scale: float) -> float:
        scaled = scale * held_out
        top = scaled.max(axis=1)
        total = top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))
        return float((total - scaled[np.arange(len(right)), right]).mean())

    return float(min(SCALES, key=loss))


def vector(page: Page) -> tuple[Places, Floats]:
    """The places of a page's words and their values."""
    stems = np.frombuffer(page.stems, "<u8")
    counts = np.frombuffer(page.counts, "<u2").astype(np.float32)
    values = 1 + np.log(np.maximum(counts, 1))
    length = float(np.linalg.norm(values)) or 1.0
    places = (stems % np.uint64(WIDTH)).astype(np.int64)
    return places, (values / length).astype(np.float32)
