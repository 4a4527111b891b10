"""Answers as search engines give them: the markup that ddgs reads, around any URLs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from urllib.parse import quote

PAGE = "<!doctype html><html><head><title>Results</title></head><body>{}</body></html>"


def brave(urls: Sequence[str]) -> str:
    return PAGE.format(
        "".join(
            f'<div class="snippet" data-type="web"><a href="{escape(url)}">'
            f'<div class="title">Title {n}</div></a><div class="snippet-content">'
            '<div class="content">Some words.</div></div></div>'
            for n, url in enumerate(urls)
        )
        + '<div data-type="videos"><a href="https://videos.test/">no result</a></div>'
    )


def duckduckgo(urls: Sequence[str]) -> str:
    """The second of every three in the wrapping that counts clicks."""
    links = [
        f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&rut=abc" if n % 3 == 1 else url
        for n, url in enumerate(urls)
    ]
    return PAGE.format(
        '<div class="body"><h2>An ad</h2>'
        '<a href="https://duckduckgo.com/y.js?ad_domain=ads.test">Buy</a></div>'
        + "".join(
            f'<div class="links_main result__body"><h2><a href="{escape(link)}">T</a>'
            f'</h2><a class="snippet" href="{escape(link)}">Some words</a></div>'
            for link in links
        )
    )


def mojeek(urls: Sequence[str]) -> str:
    items = "".join(
        f'<li><h2><a href="{escape(url)}">T</a></h2><p class="s">Some words</p></li>'
        for url in urls
    )
    return PAGE.format(f'<ul class="results-standard">{items}</ul>')


def startpage(urls: Sequence[str]) -> str:
    return PAGE.format(
        '<form id="search"><input name="sc" value="token-of-the-day"></form>'
        + "".join(
            f'<div class="result css-1"><a href="{escape(url)}"><h2>T</h2></a>'
            "<p>Some words</p></div>"
            for url in urls
        )
    )


def yahoo(urls: Sequence[str]) -> str:
    return PAGE.format(
        "".join(
            '<div class="dd relsrch"><div class="compTitle"><h3>T</h3>'
            f'<a href="https://r.search.yahoo.com/_ylt=x/RV=2/RU={quote(url, safe="")}'
            '/RK=2/RS=y-">T</a></div><div class="compText">Some words</div></div>'
            for url in urls
        )
    )


def wikipedia(urls: Sequence[str]) -> str:
    return json.dumps(["q", ["Title"] * len(urls), [""] * len(urls), list(urls)])


def searxng(results: Sequence[tuple[str, Sequence[str]]]) -> str:
    """URL and engines of each result."""
    return json.dumps(
        {
            "query": "q",
            "number_of_results": 0,
            "results": [
                {
                    "url": url,
                    "title": "T",
                    "content": "Some words",
                    "engine": engines[0],
                    "engines": list(engines),
                    "positions": [1],
                    "score": 1.0,
                    "category": "general",
                }
                for url, engines in results
            ],
            "answers": [],
            "suggestions": [],
            "unresponsive_engines": [["bing", "timeout"]],
        }
    )
