"""Attacks with pages, robots.txt files and endless webs."""

from __future__ import annotations

import random

from opilio.lab.hostile.server import HostileCase, HostileVisit, Play

TOPICAL = "honey bee hive queen drone nectar pollen wax comb swarm frame colony keeper"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NONE = "text/plain"


def saying(body: str | bytes, content_type: str = "text/html") -> Play:
    """A case that always sends the same body."""

    async def play(visit: HostileVisit) -> None:
        await visit.answer(body, content_type=content_type)

    return play


def about_bees(markup: str) -> str:
    """Markup after some words about bees."""
    return f"<title>Honey bees</title><p>Bees make honey in a hive.</p>{markup}"


def seeded(visit: HostileVisit) -> random.Random:
    """Chance that is the same for each visit to a URL."""
    return random.Random(visit.host + visit.path)


def some_text(rng: random.Random) -> str:
    return " ".join(rng.choices(TOPICAL.split(), k=100))


def letters(rng: random.Random) -> str:
    return "".join(rng.choices(LETTERS, k=9))


async def million_links(visit: HostileVisit) -> None:
    links = "".join(f"<a href={visit.root}{n}>bee</a>" for n in range(300_000))
    await visit.answer(about_bees(links))


async def long_link(visit: HostileVisit) -> None:
    await visit.answer(visit.page("honey", f"{visit.root}{'x' * 100_000}"))


async def refresh_loop(visit: HostileVisit) -> None:
    target = f"{visit.root}{'b' if visit.path == '/a' else 'a'}"
    tag = f'<meta http-equiv=refresh content="0;url={target}">'
    await visit.answer(tag + visit.page("honey"))


async def odd_links(visit: HostileVisit) -> None:
    links = (
        "javascript:alert(1)",
        "data:text/html,honey",
        "http://user:secret@localhost/",
        "http://2130706433/",
        "http://[::ffff:127.0.0.1]/",
        "http://127.0.0.1:6379/",
        "//\\\\odd\\path",
        "http://xn--.test/",
        "\t\n/with tabs",
    )
    await visit.answer("<base href=/x/y/>" + visit.page("honey", *links))


async def calendar(visit: HostileVisit) -> None:
    rng = seeded(visit)
    days = [f"{rng.randrange(1900, 2100)}-{n % 12 + 1}-{n}" for n in range(1, 28)]
    links = [f"{visit.root}day/{day}" for day in days]
    await visit.answer(visit.page(some_text(rng), *links))


async def session_ids(visit: HostileVisit) -> None:
    rng = random.Random()
    links = [f"{visit.root}?sid={rng.getrandbits(64):x}" for _ in range(20)]
    await visit.answer(visit.page("honey bee hive " * 20, *links))


async def repeating_path(visit: HostileVisit) -> None:
    here = visit.root + visit.path[1:].rstrip("/")
    page = visit.page(some_text(seeded(visit)), f"{here}/a/", f"{here}/b/")
    await visit.answer(page)


async def word_wiki(visit: HostileVisit) -> None:
    rng = seeded(visit)
    links = [f"{visit.root}wiki/{letters(rng)}" for _ in range(20)]
    await visit.answer(visit.page(some_text(rng), *links, title=letters(rng)))


async def farm(visit: HostileVisit) -> None:
    rng = seeded(visit)
    links = [f"http://{letters(rng)}.farm.test/" for _ in range(20)]
    await visit.answer(visit.page(some_text(rng), *links, title=letters(rng)))


async def many_hosts(visit: HostileVisit) -> None:
    rng = seeded(visit)
    hosts = [f"{letters(rng)}.{letters(rng)}.many-hosts.test" for _ in range(5000)]
    await visit.answer(visit.page(some_text(rng), *(f"http://{h}/" for h in hosts)))


async def soft_404(visit: HostileVisit) -> None:
    links = [f"{visit.root}{letters(seeded(visit))}{n}" for n in range(20)]
    await visit.answer(visit.page("This page about honey was not found.", *links))


async def robots_huge(visit: HostileVisit) -> None:
    if visit.path != "/robots.txt":
        await visit.answer(visit.page("honey bee hive"))
        return
    rules = "".join(f"Disallow: /forbidden/{n}\n" for n in range(200_000))
    await visit.answer(f"User-agent: *\n{rules}", content_type=NONE)


async def robots_wildcards(visit: HostileVisit) -> None:
    if visit.path != "/robots.txt":
        await visit.answer(visit.page("honey bee hive"))
        return
    rules = "".join(f"Disallow: /*a*{n}*b*$\n" for n in range(30_000))
    await visit.answer(f"User-agent: *\n{rules}", content_type=NONE)


async def robots_loop(visit: HostileVisit) -> None:
    target = f"{visit.root}robots.txt"
    await visit.answer("", f"Location: {target}", status="302 Found")


async def robots_failing(visit: HostileVisit) -> None:
    await visit.answer("", status="503 Service Unavailable")


DEEP = about_bees("<div>" * 200_000)
MERGED = about_bees("".join(f"<html b{n}=1>" for n in range(20_000)))
FORMATS = "".join(f"<b c={n}>" for n in range(500))
REOPENED = about_bees(f"<p>{FORMATS}" + "</p><p>honey" * 40_000)
ATTRIBUTES = about_bees("<p " + " ".join(f"a{n}=1" for n in range(300_000)) + ">")
TABLES = about_bees("<table><tr><td>" * 30_000)
UNENDING = about_bees("<a href=" * 200_000 + "<!--" * 100_000)
ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "honey">'
    + "".join(f'<!ENTITY a{n} "{"&a;" * 10}">' for n in range(10))
    + "]><html><body>&a9;</body></html>"
)
SHOWN = "\x1b[2J\x1b]0;owned\x07=HYPERLINK(1)<script>alert(1)</script>\u202ehoney"
SPECIAL = about_bees(f"<title>{SHOWN}</title><h1>{SHOWN}</h1>honey\0bee\ud800")
ZIP = b"PK\x03\x04" + bytes(5000)

CONTENT_CASES = [
    HostileCase("deep-nesting", "200,000 nested elements", saying(DEEP)),
    HostileCase("merged-attributes", "20,000 <html> tags to be merged", saying(MERGED)),
    HostileCase("reopened-formatting", "20 million implied elements", saying(REOPENED)),
    HostileCase(
        "many-attributes", "an element of 300,000 attributes", saying(ATTRIBUTES)
    ),
    HostileCase("nested-tables", "30,000 nested tables", saying(TABLES)),
    HostileCase("unending-tags", "tags and comments that never end", saying(UNENDING)),
    HostileCase("entity-bomb", "entities that expand a billionfold", saying(ENTITIES)),
    HostileCase(
        "huge-title", "a title of 5 MB", saying(f"<title>{'honey ' * 800_000}")
    ),
    HostileCase(
        "special-characters", "code for terminals, sheets, browsers", saying(SPECIAL)
    ),
    HostileCase("zip-as-html", "a ZIP file as text/html", saying(ZIP)),
    HostileCase(
        "odd-encoding",
        "UTF-16 announced as UTF-7",
        saying("honey".encode("utf-16"), "text/html; charset=utf-7"),
    ),
    HostileCase("million-links", "300,000 links", million_links),
    HostileCase("long-link", "a link of 100,000 characters", long_link),
    HostileCase(
        "odd-links", "links to code, private addresses, other ports", odd_links
    ),
    HostileCase("refresh-loop", "pages that refresh to each other", refresh_loop),
    HostileCase("calendar", "days without end, each with another text", calendar),
    HostileCase("session-ids", "the same page under ever new URLs", session_ids),
    HostileCase("repeating-path", "paths that grow by repeating", repeating_path),
    HostileCase("word-wiki", "topical pages named by random letters", word_wiki),
    HostileCase("farm", "topical pages on ever new hosts", farm),
    HostileCase("many-hosts", "5,000 new hosts on every page", many_hosts),
    HostileCase("soft-404", "any URL exists and says it does not", soft_404),
    HostileCase("robots-huge", "robots.txt with 200,000 rules", robots_huge, True),
    HostileCase(
        "robots-wildcards", "robots.txt with 30,000 wildcards", robots_wildcards, True
    ),
    HostileCase(
        "robots-loop", "robots.txt that redirects to itself", robots_loop, True
    ),
    HostileCase("robots-failing", "robots.txt that fails", robots_failing, True),
]
