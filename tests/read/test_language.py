"""The language of a page is declared, or told by its script or its words."""

from __future__ import annotations

import socket

import pytest

from opilio.read import language
from opilio.read.language import (
    by_model,
    in_small_letters,
    language_of,
    language_of_tag,
)

TEXTS = {
    "en": "The bee collects nectar from flowers and makes honey of it in its hive. ",
    "de": "Die Biene sammelt Nektar von Blüten und macht daraus im Stock Honig. ",
    "fr": "L'abeille récolte le nectar des fleurs et en fait du miel dans sa ruche. ",
    "es": "La abeja recoge el néctar de las flores y hace miel en su colmena. ",
    "ru": "Пчела собирает нектар с цветов и делает из него мёд в своём улье. ",
}


@pytest.mark.parametrize("code", TEXTS)
def test_the_words_tell_the_language(code: str) -> None:
    assert language_of("", TEXTS[code] * 3) == code


def test_what_is_declared_comes_first_and_the_script_next() -> None:
    assert language_of("fr-CA", TEXTS["en"]) == "fr"
    assert language_of("english", "हिन्दी " * 9) == "hi"


@pytest.mark.parametrize(
    "text",
    ["", "12345 " * 50, "ok", "x\ny", "\0\ud800" * 50, "- " * 1000, "a1b2 " * 99],
)
def test_too_little_to_tell_is_no_language(text: str) -> None:
    assert by_model(text) == ""


def test_lone_surrogates_do_no_harm() -> None:
    assert by_model("\ud800" + TEXTS["de"] * 2) == "de"


def test_capitals_are_read_as_small_letters() -> None:
    assert by_model(TEXTS["de"].upper() * 2) == by_model(TEXTS["de"] * 2) == "de"
    assert in_small_letters("THE BEES OF May") == "the bees of may"
    assert in_small_letters("The Bees") == "The Bees"


def test_the_network_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    language._detector.cache_clear()
    assert by_model(TEXTS["de"] * 2) == "de"


def test_a_page_without_the_model_has_no_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise ImportError("no py3langid here")

    monkeypatch.setattr(language, "_detector", fail)
    assert by_model(TEXTS["de"] * 2) == ""


def test_the_sample_is_bounded_and_from_the_middle() -> None:
    menu = "Home About Contact Login " * 2000
    assert language_of("", menu + TEXTS["de"] * 1000 + menu) == "de"


@pytest.mark.parametrize(
    ("tag", "code"), [("DE-at", "de"), ("zh_Hant", "zh"), ("english", ""), ("", "")]
)
def test_a_tag_is_cut_to_its_primary_part(tag: str, code: str) -> None:
    assert language_of_tag(tag) == code
