"""The report: one page that loads nothing, harms nobody and tells what the runs say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from statistics import fmean, median
from xml.etree import ElementTree

import msgspec
import pytest

from lab.made_up_runs import ABOUT, made_up_runs
from opilio.errors import BadInput
from opilio.lab.report import write_report
from opilio.lab.report.figures import findings
from opilio.lab.report.glossary import READING
from opilio.lab.report.html import Html
from opilio.lab.report.page import page as whole_page
from opilio.lab.report.several_webs import means
from opilio.lab.report.stages import STAGES
from opilio.lab.report.tables import COLUMNS
from opilio.lab.runs import Run, WebFacts
from opilio.strategies import DEFAULT

EVIL = "<script>alert(1)</script>"
TOPIC = "\"><img src=x onerror='alert(1)'> & \x1b birds"
SOME = {"blocks": 0.7, DEFAULT: 0.5, "breadth-first": 0.24, EVIL: 0.55}
RUNS = made_up_runs(strategies=SOME, topics={"astronomy": 60, TOPIC: 40})
VOID = {"meta", "br", "input"}
LOADS = {"script", "link", "img", "image", "iframe", "object", "embed", "base", "form"}
LOADS |= {"audio", "video", "source", "track", "frame", "applet", "foreignobject"}


class Page(HTMLParser):
    """A page, read by one who does not forgive: every element must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.tables: list[list[list[str]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data

    def row(self, name: str, table: int = 0) -> list[str]:
        """The cells of the row of this name."""
        return next(row[1:] for row in self.tables[table] if row[0] == name)

    @property
    def text(self) -> str:
        """All text, as it is read."""
        return "".join(self.texts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    about = msgspec.structs.replace(
        ABOUT, title="</title>" + EVIL, command="lab </code>" + EVIL
    )
    assert write_report(RUNS, about, folder / "new") == folder / "new" / "report.html"
    return folder / "new"


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def report(runs: list[Run]) -> Page:
    """The page without its charts, which take their time."""
    found = findings(runs)
    chart = Html("<svg></svg>")
    small = dict.fromkeys(found.runs, chart)
    return Page(whole_page(found, ABOUT, {"topics": chart}, small))


def runs_of(name: str) -> list[Run]:
    return [run for run in RUNS if run.task.strategy == name]


def test_the_page_loads_nothing(page: Page, text: str) -> None:
    assert LOADS.isdisjoint(tag for tag, _ in page.elements)
    for _, attributes in page.elements:
        assert not {"src", "srcset", "href", "xlink:href", "action"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert "url(" not in attributes.get("style", "")
    styles = "".join(re.findall(r"<style>(.*?)</style>", text, re.S))
    assert styles and "url(" not in styles and "@import" not in styles
    policy = [a["content"] for _, a in page.elements if "http-equiv" in a]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_the_only_addresses_in_the_page_are_names_and_text(page: Page) -> None:
    for tag, attributes in page.elements:
        for name, value in attributes.items():
            assert "//" not in value or (tag == "svg" and name.startswith("xmlns"))


def test_the_page_is_well_made(page: Page, text: str) -> None:
    assert text.startswith('<!doctype html>\n<html lang="en">')
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert [tag for tag, _ in page.elements].count("h1") == 1
    assert len({len(row) for row in page.tables[0]}) == 1  # no cell is missing
    for drawn in re.findall(r"<svg.*?</svg>", text, re.S):
        ElementTree.fromstring(drawn)


def test_names_are_shown_and_never_read_as_html(page: Page, text: str) -> None:
    assert EVIL not in text
    assert page.row(EVIL)
    assert f"</title>{EVIL}: 4 strategies compared" in page.text
    assert "img src=x onerror" in page.text
    assert "\x1b" not in text


def test_a_strategy_called_script_does_no_harm_in_the_plots(folder: Path) -> None:
    for path in folder.glob("*.svg"):
        tags = {
            element.tag.partition("}")[2] for element in ElementTree.parse(path).iter()
        }
        assert tags <= {"svg", "g", "rect", "path", "line", "text", "style"}
    texts = ElementTree.parse(folder / "recall.svg").iter()
    assert EVIL in {element.text for element in texts}


def test_plots_are_files_too(folder: Path) -> None:
    names = {"recall", "harvest", "window", "topics"}
    files = {f"{name}.{form}" for name in names for form in ("svg", "png")}
    assert {path.name for path in folder.iterdir()} == files | {"report.html"}
    for path in folder.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_the_figures_are_those_of_the_runs(page: Page) -> None:
    for name in SOME:
        runs = runs_of(name)
        cells = page.row(name)
        measures = [run.measures for run in runs]
        assert cells[0] == f"{fmean(run.of_oracle['aurc'] for run in runs):.1%}"
        assert cells[1].startswith(f"{fmean(one.aurc for one in measures):.3f} [")
        assert cells[2] == f"{fmean(one.recall_2R for one in measures):.1%}"
        assert cells[3] == f"{fmean(one.harvest for one in measures):.1%}"
        for cell, field in zip(cells[4:7], ("50", "80", "90"), strict=True):
            until = [getattr(one, f"pages_to_{field}") for one in measures]
            got = [number for number in until if number is not None]
            never = [10**9] * (len(until) - len(got))
            middle = median(got + never)
            told = "–" if middle >= 10**8 else f"{middle:,.0f}"
            assert cell == f"{told} {len(got)}/{len(until)}"
        assert cells[7] == f"{fmean(one.target_length or 0 for one in measures):.1f}"
        assert (
            cells[8] == f"{fmean(one.through_irrelevant or 0 for one in measures):.1%}"
        )
        assert cells[9] == f"{fmean(one.wasted for one in measures):.1%}"
        assert cells[10] == f"{fmean(run.cpu_ms for run in runs):.2f}"


def test_the_interval_holds_the_mean(page: Page) -> None:
    for name in SOME:
        mean, low, high = map(float, re.findall(r"[\d.]+", page.row(name)[1]))
        assert low <= mean <= high and low < high


def test_the_oracle_comes_first_and_the_others_by_their_share(page: Page) -> None:
    rows = page.tables[0][1:]
    assert rows[0][0] == "oracle"
    oracle = {run.task.topic + str(run.task.repeat): run.oracle.aurc for run in RUNS}
    assert rows[0][2].startswith(f"{fmean(oracle.values()):.3f} [")
    shares = [float(row[1].rstrip("%")) for row in rows[1:]]
    assert shares == sorted(shares, reverse=True) and len(shares) == len(SOME)


def test_the_numbers_of_a_curve_are_counted_from_the_runs(page: Page) -> None:
    numbers = page.tables[3]
    assert numbers[0][1:5] == ["0.25 R", "0.5 R", "0.75 R", "1 R"]
    for name in ("oracle", "blocks"):
        runs = runs_of("blocks")
        for place, x in ((0, 0.25), (3, 1), (11, 3)):
            found = [
                sum(
                    1
                    for at in (
                        run.oracle_found_at if name == "oracle" else run.found_at
                    )
                    if at <= x * run.R
                )
                / run.R
                for run in runs
            ]
            assert page.row(name, 3)[place].startswith(f"{fmean(found):.3f}[")


def test_what_was_run_can_be_run_again(page: Page) -> None:
    assert page.row("command", 4) == [f"lab </code>{EVIL}"]
    assert page.row("versions", 4) == ["opilio 0.1, python 3.11.2"]
    assert page.row("begun", 4) == ["2026-07-01T12:00:00+00:00"]
    assert page.row("requests a run", 4) == ["120 to 180 at most"]
    assert "http://astronomy.test/1" in page.text


def test_the_leader_and_the_default_are_told_in_words(page: Page) -> None:
    first = page.tables[0][2][0]
    assert f"{first} comes first, with" in page.text
    place = [row[0] for row in page.tables[0]].index(DEFAULT) - 1
    default = f"{DEFAULT}, the default strategy,"
    assert f"{default} is number {place} of 4" in page.text


def test_a_default_that_comes_first_is_called_so_by_its_name() -> None:
    page = report(made_up_runs(strategies={DEFAULT: 0.7, "random": 0.1}))
    assert f"{DEFAULT} is also the default strategy" in page.text


def test_every_column_is_explained_in_visible_text(page: Page) -> None:
    start = page.text.index("What the columns mean")
    shown = page.text[start : page.text.index("Recall over requests")]
    for word, what in READING:
        assert word + what in shown
    words = {word for word, _ in READING}
    for column in COLUMNS[1:]:
        name = column.replace("\u00a0", " ").removesuffix(" [95 %]")
        assert name in words or name in {"to 80 %", "to 90 %"}
    assert "It stops when everything is found." in shown


def test_a_strategy_of_a_file_is_called_by_its_class_and_options() -> None:
    one, other = "some/where/anchors.py:Anchors,most=40", "b/anchors.py:Anchors"
    skills = {one: 0.5, "blocks,mode=paper": 0.4, other: 0.3}
    page = report(made_up_runs(strategies=skills, repeats=1))
    rows = {row[0] for row in page.tables[0]}
    assert {"Anchors, most=40", "Anchors", "blocks, mode=paper"} <= rows
    titles = [a["title"] for tag, a in page.elements if tag == "th" and "title" in a]
    assert {one, other} <= set(titles)


def test_classes_of_one_name_keep_their_files() -> None:
    skills = {"a/anchors.py:Anchors": 0.5, "b/anchors.py:Anchors": 0.3}
    page = report(made_up_runs(strategies=skills, repeats=1))
    assert set(skills) <= {row[0] for row in page.tables[0]}


def test_the_lines_of_a_narrow_chart_are_named_below_it(text: str) -> None:
    keys = re.findall(r'<ul class="keys">(.*?)</ul>', text)
    assert len(keys) == 3
    names = re.findall(r"</span>(.*?)</li>", keys[0])
    assert names[-1] == "oracle" and {"blocks", "breadth-first"} <= set(names)
    colours = re.findall(r"var\((--[\w-]+)\)", keys[0])
    assert len(set(colours)) == len(names) - 1
    assert all(f"{colour}:light-dark(" in text for colour in colours)


def with_aurc(run: Run, aurc: float) -> Run:
    measures = msgspec.structs.replace(run.measures, aurc=aurc)
    share = {**run.of_oracle, "aurc": aurc / run.oracle.aurc}
    return msgspec.structs.replace(run, measures=measures, of_oracle=share)


def test_one_beats_another_only_where_the_interval_says_so() -> None:
    topics = dict.fromkeys("abcdefgh", 20)
    made = made_up_runs(
        strategies={"best-first": 1, "blocks": 1, "opic": 1}, topics=topics
    )
    runs = []
    for run in made:
        base = 0.4 + 0.01 * "abcdefgh".index(run.task.topic)
        # On every topic a little better; and now better, now worse.
        swing = 0.05 if run.task.topic in "aceg" else -0.048
        gain = {"best-first": 0.0, "blocks": 0.02, "opic": swing}[run.task.strategy]
        runs.append(with_aurc(run, base + gain))
    page = report(runs)
    assert page.tables[2] == [
        ["row against column", "1", "2", "3"],
        ["1 blocks", "", "·", "+"],
        ["2 opic", "·", "", "·"],
        ["3 best-first", "−", "·", ""],
    ]
    # Eight topics in favour: p = 2/2⁸, and three pairs. The figures stand beside.
    figures = "d̄ +0.020 [+0.020, +0.020], p 0.023 after Holm"
    assert f"blocks beats 1 of 2 others:best-first {figures}" in page.text
    assert "It cannot be told apart from:opic d̄ +0.019 [−0." in page.text
    assert "No test on so few" not in page.text


@pytest.mark.parametrize(
    ("topics", "strategies", "told"),
    [
        ("abcd", ("blocks", "opic"), "with 4, the least p of 1 pair is 0.12)"),
        ("abcde", ("blocks", "opic"), "with 5, the least p of 1 pair is 0.062)"),
        ("abcdef", ("blocks", "opic"), None),
        ("abcdef", ("blocks", "opic", "otie"), "the least p of 3 pairs is 0.094)"),
    ],
)
def test_where_no_test_can_be_significant_it_is_said(
    topics: str, strategies: Sequence[str], told: str | None
) -> None:
    skills = dict.fromkeys(strategies, 0.5)
    text = report(
        made_up_runs(strategies=skills, topics=dict.fromkeys(topics, 20), repeats=1)
    ).text
    warned = "No test on so few topics can be significant after correction"
    assert (warned in text) == (told is not None)
    if told:
        assert told + ", so what follows is a tendency on these topics." in text


def test_the_repetitions_of_one_topic_are_runs_not_topics() -> None:
    page = report(made_up_runs(topics={"a": 20}, repeats=3))
    assert "No test on so few runs can be significant" in page.text
    assert "so what follows is a tendency on this topic." in page.text


def test_a_strategy_alone_beats_nobody() -> None:
    assert " beats all" not in report(made_up_runs(strategies={"opic": 0.5})).text


def test_judges_and_seeds_are_named_where_there_are_several() -> None:
    runs = made_up_runs(
        strategies={"blocks": 0.6, "breadth-first": 0.3},
        topics={"a": 20, "b": 30},
        judges=("cosine", "perfect"),
        modes=("near", "far"),
    )
    page = report(runs)
    rows = [row[0] for row in page.tables[0]]
    assert rows[1:3] == ["oracle · near", "oracle · far"]
    assert "blocks · perfect · far" in rows and len(rows) == 1 + 2 + 8
    # Runs from other seeds are other tasks: a table for each kind.
    for table, mode in ((2, "near"), (3, "far")):
        assert len(page.tables[table]) == 5
        assert all(row[0].endswith(mode) for row in page.tables[table][1:])
    # Who is told the labels is no contender.
    assert re.search(r"blocks · cosine · \w+ comes first", page.text)


def test_a_small_budget_shortens_the_curves(tmp_path: Path) -> None:
    few = {"blocks": 0.7, "random": 0.1}
    path = write_report(
        made_up_runs(strategies=few, budget=20, repeats=1), ABOUT, tmp_path
    )
    page = Page(path.read_text(encoding="utf-8"))
    assert not (tmp_path / "window.svg").exists()
    assert page.tables[3][0][-1] == f"{20 / 161:.3g} R"


def test_one_run_makes_a_report_too(tmp_path: Path) -> None:
    path = write_report(RUNS[:1], ABOUT, tmp_path)
    page = Page(path.read_text(encoding="utf-8"))
    assert page.row(RUNS[0].task.strategy)


def test_runs_without_targets_are_left_out_and_counted(tmp_path: Path) -> None:
    empty = [msgspec.structs.replace(run, R=0, of_oracle={}) for run in RUNS[:2]]
    page = report([*RUNS[2:10], *empty])
    assert "2 runs had no target in reach and are left out." in page.text
    with pytest.raises(BadInput, match="nothing to report"):
        write_report(empty, ABOUT, tmp_path)


def test_rows_with_other_numbers_of_runs_are_pointed_out(page: Page) -> None:
    warning = "Not all rows have the same runs"
    assert warning not in page.text
    assert warning in report(RUNS[:-3]).text


def test_what_crawls_were_given_is_told() -> None:
    runs = [
        msgspec.structs.replace(
            run,
            task=msgspec.structs.replace(run.task, examples=5, labels=20),
            labels_given=number % 3,
        )
        for number, run in enumerate(RUNS)
    ]
    told = report(runs).text
    assert "examples5" in told
    assert "labels20" in told
    assert "5 relevant and 0 irrelevant example pages" in told
    assert "at most 20 labels while it ran (taken: 0 to 2;" in told
    assert "example pages" not in report(RUNS).text


def on_webs(**topics: dict[str, int]) -> list[Run]:
    """Runs on several webs."""
    return [
        msgspec.structs.replace(run, task=msgspec.structs.replace(run.task, web=web))
        for seed, (web, own) in enumerate(topics.items())
        for run in made_up_runs(seed, strategies=SOME, topics=own, repeats=1)
    ]


def test_several_webs_have_a_table_each_and_their_mean(tmp_path: Path) -> None:
    runs = on_webs(
        schools={"astronomy": 40, "birds": 30, "chess": 30}, lists={TOPIC: 40}
    )
    webs = [
        WebFacts(name=name, title=f"{EVIL} {name}", pages=900, links=9_000)
        for name in ("schools", "lists")
    ]
    about = msgspec.structs.replace(ABOUT, title="2 webs", webs=webs)
    text = write_report(runs, about, tmp_path).read_text(encoding="utf-8")
    page = Page(text)
    assert EVIL not in text
    assert LOADS.isdisjoint(tag for tag, _ in page.elements)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))

    def share(web: str) -> float:
        own = [
            run.of_oracle["aurc"]
            for run in runs
            if run.task.web == web and run.task.strategy == "blocks"
        ]
        return fmean(own)

    both = [share("schools"), share("lists")]
    assert page.row("blocks") == [f"{number:.1%}" for number in [fmean(both), *both]]
    first = [row[0] for row in page.tables[0][1:]]
    assert first[0] == "blocks"  # best mean first
    assert f"{both[0]:.0%} on schools, {both[1]:.0%} on lists" in page.text
    # A table of standings and one of stages for each web, then its duels and figures.
    assert page.row("blocks", 1)[0] == f"{both[0]:.1%}"
    assert page.row("blocks", 5)[0] == f"{both[1]:.1%}"


def test_a_strategy_that_was_not_tried_on_each_web_comes_last(tmp_path: Path) -> None:
    runs = [
        run
        for run in on_webs(schools={"astronomy": 40}, lists={"birds": 30})
        if run.task.strategy != "blocks" or run.task.web == "lists"
    ]
    rows = means([findings(own) for own in split(runs)])
    assert rows[-1].entry.strategy == "blocks"
    assert rows[-1].shares[0] is None
    assert rows[-1].mean == rows[-1].shares[1]


def split(runs: list[Run]) -> list[list[Run]]:
    names = dict.fromkeys(run.task.web for run in runs)
    return [[run for run in runs if run.task.web == name] for name in names]


def test_stages_are_shares_of_the_oracle_by_their_end(page: Page) -> None:
    table = next(
        number
        for number, rows in enumerate(page.tables)
        if rows[0][1] == "precision of the first 50"
    )
    runs = runs_of("blocks")
    told = page.row("blocks", table)
    assert told[0] == f"{fmean(run.measures.precision_50 for run in runs):.1%}"
    for cell, stage in zip(told[1:], STAGES, strict=True):
        assert cell == f"{fmean(run.of_oracle[stage] for run in runs):.1%}"
    assert page.row("oracle", table)[1:] == ["100.0%"] * 3
