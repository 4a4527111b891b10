"""Explains the words and figures of a report, one line each.

The equations are those of docs/reference/measures.md.
"""

from __future__ import annotations

from opilio.lab.report.html import Html, tag

READING = (
    (
        "target, R",
        "A target is a page that the topic's labels call relevant. R is the number of "
        "targets that can be reached from the seeds.",
    ),
    (
        "recall",
        "r(n) = (1/R)·Σ fᵢ, i ≤ n, with fᵢ = 1 if request i found a new target, else "
        "0: the share of the R targets that the first n requests found.",
    ),
    (
        "AURC",
        "(1/3R)·Σ r(n), n = 1 … 3R, the area under the recall curve: mean recall over "
        "the first 3R requests, which rewards finding much and finding it early. At "
        "most about 0.83.",
    ),
    (
        "[low, high]",
        "95 % interval of a mean over topics: how far it would move with other topics "
        "of the same kind.",
    ),
    (
        "oracle",
        "It knows every link and every label and always goes to the nearest target. "
        "It stops when everything is found.",
    ),
    ("of the oracle", "AURC / the oracle's AURC; 100 % is as good as the oracle."),
    ("recall at 2R", "r(2R): after twice as many requests as there are targets."),
    (
        "first 50, to R, to 3R",
        "r(n) / the oracle's r(n) for n = 50, R and 3R: the beginning of a crawl, "
        "the point where an oracle is nearly done, and the whole crawl.",
    ),
    (
        "precision of the first 50",
        "(1/50)·Σ fᵢ, i ≤ 50: the share of the first 50 requests that found a target.",
    ),
    (
        "harvest",
        "H = (1/N)·Σ fᵢ, N the requests made: the share that found a new target. A "
        "crawl continues after the oracle has stopped, so after 3R requests it is at "
        "most a third and cannot be compared with the oracle's.",
    ),
    (
        "to 50 %",
        "min {n : r(n) ≥ 0.5}: requests until half of the targets were found, the "
        "median over runs; 80 and 90 % likewise. A run that never got there counts as "
        "later than all others; a dash means that at least half never did.",
    ),
    ("3/4", "Three of four runs got there."),
    (
        "target length",
        "Links followed from a seed to a target, the median.",
    ),
    (
        "through irrelevant",
        "Share of the targets found through a link on an irrelevant page: whether a "
        "crawl can tunnel.",
    ),
    (
        "wasted",
        "Share of requests that returned no new page but a copy, a redirect or a "
        "failure.",
    ),
    ("CPU ms", "CPU time per request for judging and choosing, without parsing."),
    (
        "hours",
        "Simulated time of a crawl under the conditions above; a dash: pages were "
        "visited one at a time, without simulated time.",
    ),
)


def reading_list() -> Html:
    """What is to be known before the table is read."""
    pairs = [tag("div", tag("dt", word), tag("dd", what)) for word, what in READING]
    return tag("dl", *pairs, class_="reading")
