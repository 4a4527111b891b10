"""The main text of pages, hostile ones included."""

import time

import pytest

from opilio.read.html import PageReader
from opilio.read.main_content.extract import extract_content
from opilio.records import ReaderSetup, Response


def main_text(page: Response) -> str:
    return extract_content(page).text


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


def test_a_page_has_its_text_if_somebody_asks_for_it():
    page = response("<title>Bees</title><nav>Home</nav><main><p>The bee flies.</main>")
    asked = PageReader(ReaderSetup(("bee",), "en", text=True)).read(page)
    assert asked.text == main_text(page) == "The bee flies."
    assert PageReader(ReaderSetup(("bee",), "en")).read(page).text == ""


def test_a_page_whose_main_text_cannot_be_found_has_all_its_text(monkeypatch):
    def fail(_: Response) -> str:
        raise RuntimeError

    monkeypatch.setattr("opilio.read.main_content.extract.extract_content", fail)
    page = response("<nav>Home</nav><p>The bee flies.")
    asked = PageReader(ReaderSetup(("bee",), "en", text=True)).read(page)
    assert asked.text.split() == ["Home", "The", "bee", "flies."]
