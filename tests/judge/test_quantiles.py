import subprocess
import sys

import numpy as np
import pytest

from opilio.judge.keyword_evidence import quantiles
from opilio.strategies.shared.chooser.pool import distinct


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_quantiles_are_those_of_numpy_to_the_last_bit(kind):
    chance = np.random.default_rng(7)
    for size in (1, 2, 3, 7, 50, 399):
        for numbers in (chance.random(size), chance.integers(0, 4, size)):
            values = numbers.astype(kind)
            for share in (0.0, 0.1, 0.5, 0.85, 1.0):
                assert quantiles(values, [share]) == [float(np.quantile(values, share))]


def test_distinct_numbers_are_those_of_numpy():
    chance = np.random.default_rng(7)
    for size in (0, 1, 5, 300):
        numbers = chance.integers(0, 90, size)
        assert distinct(numbers).tolist() == np.unique(numbers).tolist()


def test_neither_imports_masked_arrays():
    program = (
        "import sys, numpy; from opilio.judge.keyword_evidence import quantiles;"
        "from opilio.strategies.shared.chooser.pool import distinct;"
        "quantiles(numpy.ones(3), [0.5]); distinct(numpy.ones(3));"
        "assert 'numpy.ma' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
