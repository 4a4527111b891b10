"""The main text of pages, hostile ones included."""

import time

import pytest

from opilio.read.main_text import main_text
from opilio.records import Response


def response(markup: str) -> Response:
    headers = [("content-type", "text/html; charset=utf-8")]
    return Response("http://a.test/", 200, headers, markup.encode(), 0.0)


def test_menus_and_footers_are_left_out():
    text = main_text(
        response(
            "<nav><ul><li><a href=/>Home</a></li></ul></nav>"
            f"<main><h1>Bees</h1><p>{'The bee makes honey. ' * 20}</p></main>"
            "<footer><a href=/imprint>Imprint</a></footer>"
        )
    )
    assert "The bee makes honey." in text
    assert "Imprint" not in text


@pytest.mark.parametrize(
    "markup",
    ["<div>" * 100_000 + "x", "<b>" * 50_000 + "x", "<p><a>" * 50_000, "<" * 10**6],
)
def test_hostile_markup_takes_bounded_time(markup: str):
    began = time.process_time()
    main_text(response(markup))
    assert time.process_time() - began < 10  # quadratic would be minutes
