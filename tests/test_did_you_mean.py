"""What messages suggest for a name that is not known."""

import pytest

from opilio.errors import did_you_mean


@pytest.mark.parametrize(
    ("name", "most", "question"),
    [
        ("dely", 1, "did you mean 'delay'? "),
        ("dalay", 2, "did you mean 'delay', 'delays'? "),
        ("xyz", 3, ""),
    ],
)
def test_a_message_asks_for_the_nearest_names(name, most, question):
    assert did_you_mean(name, ("delays", "delay", "robots"), most) == question
