"""The commands of the lab, as a person uses them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from crawling import awaits
from opilio.cli import app
from opilio.cli.lab import named
from opilio.cli.lab_runs import locked

OPILIO = [sys.executable, "-c", "from opilio.cli import main; main()"]
OWN = '''
from opilio.settings import Section
from opilio.records import Ranked, Reads

class Options(Section, frozen=True, kw_only=True):
    most: int = 80

class Long:
    """Visits links with long anchors first."""
    Options = Options
    reads = Reads()

    def __init__(self, options, knowledge):
        self.most = options.most

    def rank(self, page, verdict, lease):
        for link in page.links:
            yield Ranked(link, float(min(len(link.anchor), self.most)))
'''


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab") / "my-web"
    told = CliRunner().invoke(
        app, ["lab", "web", str(folder), "--pages", "300", "--hosts", "8"]
    )
    assert told.exit_code == 0, told.output
    assert "beekeeping" in told.output
    return folder


@pytest.fixture(autouse=True)
def cache(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparisons draw no charts, which takes longer than their crawls."""
    monkeypatch.setattr(
        "opilio.lab.report.write_report", lambda runs, about, folder: folder / "none"
    )


@pytest.mark.usefixtures("no_report")
def test_a_web_of_lists_is_made_and_compared(tmp_path: Path) -> None:
    folder = tmp_path / "lists"
    small = ("--pages", 150, "--hosts", 4, "--topics", 3)
    assert "web of lists: 150 items" in lab("web", folder, "--kind", "lists", *small)
    out = tmp_path / "out"
    told = lab(
        *("compare", "--web", folder, "--strategies", "tag-path-bandit"),
        *("--budget", "1R", "-o", out),
    )
    assert "tag-path-bandit" in told
    assert len(topics_of(out)) == 3


def lab(*arguments: object) -> str:
    told = CliRunner().invoke(app, ["lab", *map(str, arguments)])
    assert told.exit_code == 0, told.output
    return told.output


def test_a_run_gives_one_object_with_its_pages_in_order(
    web: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    name = ("--topic", "chess", "--strategy", "blocks")
    lab("run", "--web", web, *name, "--budget", "1R", "--json", out)
    run = json.loads(out.read_text())
    for key in (
        "web",
        "topic",
        "strategy",
        "judge",
        "budget",
        "R",
        "aurc",
        "recall_2R",
    ):
        assert key in run
    assert run["budget"] == run["R"] == len(run["pages"])
    assert run["share_of_oracle"] == pytest.approx(run["aurc"] / run["oracle"]["aurc"])
    assert run["pages"][0] in run["seeds"]
    assert 0 < run["aurc"] < 0.84


def test_a_topic_may_be_a_file_and_the_answer_go_to_the_screen(
    web: Path, tmp_path: Path
) -> None:
    topic = tmp_path / "mine.toml"
    topic.write_text((web / "topics" / "chess.toml").read_text())
    told = lab("run", "--web", web, "--topic", topic, "--budget", 20, "--json", "-")
    run = json.loads(told.splitlines()[-1])
    assert len(run["pages"]) == 20
    assert run["topic"] == "mine"


@pytest.mark.usefixtures("no_report")
def test_topics_may_be_in_a_folder_outside_the_web(web: Path, tmp_path: Path) -> None:
    folder = tmp_path / "topics"
    folder.mkdir()
    for name in ("chess", "volcano"):
        text = (web / "topics" / f"{name}.toml").read_text()
        (folder / f"my-{name}.toml").write_text(text)
    where = ("compare", "--web", web, "--topics-dir", folder, "-o", tmp_path / "out")
    common = ("--strategies", "breadth-first", "--budget", 10)
    lab(*where, *common)
    assert topics_of(tmp_path / "out") == ["my-chess", "my-volcano"]
    lab(*where, *common, "--topics", "my-volcano")
    assert topics_of(tmp_path / "out") == ["my-volcano"]


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab") / "my-lists"
    small = ("--pages", 200, "--hosts", 3, "--topics", 3)
    lab("web", folder, "--kind", "lists", *small)
    return folder


def test_several_webs_are_compared_in_one_report(
    web: Path, lists: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    out = tmp_path / "out"
    common = ("--strategies", "breadth-first,best-first", "--budget", 15, "-o", out)
    where = ("compare", "--web", web, "--web", lists, "--topics", "volcano,chess")
    told = lab(*where, *common)
    runs = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    assert [(run["web"], run["topic"]) for run in runs] == [
        ("my-web", "volcano"),
        ("my-web", "volcano"),
        ("my-web", "chess"),
        ("my-web", "chess"),
        ("my-lists", "volcano"),  # which has no chess
        ("my-lists", "volcano"),
    ]
    about = json.loads((out / "comparison.json").read_text())
    assert [each["name"] for each in about["webs"]] == ["my-web", "my-lists"]
    assert about["pages"] == sum(each["pages"] for each in about["webs"])
    page = (out / "report.html").read_text()
    assert "2 strategies compared on 2 webs" in page
    for name in ("recall-my-web.svg", "topics-my-lists.png"):
        assert (out / name).is_file()
    head = "of oracle\tmean\tmy-web\tmy-lists"
    first = [head, *told.partition(f"{head}\n")[2].splitlines()]
    mean, *each = (float(cell.rstrip("%")) for cell in first[1].split("\t")[1:])
    assert mean == pytest.approx(sum(each) / 2, abs=0.11)
    assert "\nmy-lists\nstrategy\t" in told
    request.getfixturevalue("no_report")
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    lab(*where, *common)
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_a_run_may_be_on_several_webs(web: Path, lists: Path) -> None:
    both = ("--web", web, "--web", lists, "--topic", "beekeeping")
    told = lab("run", *both, "--budget", 10, "--json", "-")
    runs = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    assert [run["web"] for run in runs] == ["my-web", "my-lists"]


def test_a_topic_that_no_web_has_and_webs_of_one_name_are_refused(
    web: Path, lists: Path, tmp_path: Path
) -> None:
    twin = tmp_path / "twin"
    shutil.copytree(web, twin)
    both = ["lab", "compare", "--web", str(web), "--web"]
    told = CliRunner().invoke(app, [*both, str(lists), "--topics", "knitting"])
    assert "no web has the topic 'knitting'" in str(told.exception)
    told = CliRunner().invoke(app, [*both, str(twin), "-o", str(tmp_path / "out")])
    assert "two webs are named 'my-web'" in str(told.exception)


def test_a_folder_without_topics_is_refused(web: Path, tmp_path: Path) -> None:
    told = CliRunner().invoke(
        app, ["lab", "compare", "--web", str(web), "--topics-dir", str(tmp_path)]
    )
    assert "has no topic files" in str(told.exception)


def topics_of(out: Path) -> list[str]:
    runs = (out / "runs.jsonl").read_text().splitlines()
    return [json.loads(line)["topic"] for line in runs]


def test_a_comparison_writes_runs_pages_and_a_report(
    web: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN)
    out = tmp_path / "out"
    told = lab(
        *("compare", "--web", web, "--topics", "chess,beekeeping", "--budget", "1R"),
        *(
            "--strategies",
            f"best-first,{own}:Long,most=40",
            "--judges",
            "cosine,perfect",
        ),
        *("-o", out, "-j", 1),
    )
    assert "best-first" in told
    runs = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    assert len(runs) == 8
    assert {run["strategy"] for run in runs} == {"best-first", f"{own}:Long,most=40"}
    rows = parquet.read_table(out / "pages.parquet").to_pylist()
    assert len(rows) == sum(run["requests"] for run in runs)
    found = sum(row["found"] for row in rows)
    assert found == sum(len(run["found_at"]) for run in runs) > 0
    assert (out / "report.html").stat().st_size > 10_000
    assert not (out / "readings").exists()
    # What is done is not done again.
    request.getfixturevalue("no_report")
    ends = {file.name: file.stat().st_mtime_ns for file in (out / "runs").iterdir()}
    lab(
        *("compare", "--web", web, "--topics", "chess,beekeeping", "--budget", "1R"),
        *(
            "--strategies",
            f"best-first,{own}:Long,most=40",
            "--judges",
            "cosine,perfect",
        ),
        *("-o", out, "-j", 1),
    )
    assert ends == {f.name: f.stat().st_mtime_ns for f in (out / "runs").iterdir()}
    # Unless the strategy is another.
    own.write_text(OWN.replace("float(min(", "-float(min("))
    lab(
        *("compare", "--web", web, "--topics", "chess", "--budget", "1R"),
        *("--strategies", f"{own}:Long,most=40", "-o", out, "-j", 1),
    )
    assert len(list((out / "runs").iterdir())) == len(ends) + 1


@pytest.mark.usefixtures("no_report")
def test_an_interrupted_comparison_goes_on(web: Path, tmp_path: Path) -> None:
    out, own, go = tmp_path / "out", tmp_path / "patient.py", tmp_path / "go"
    line = f"while not os.path.exists({str(go)!r}): time.sleep(0.05)"
    code = OWN.replace("for link in", f"{line}\n        for link in")
    own.write_text(f"import os, time\n{code}")
    command = ["lab", "compare", "--web", str(web), "--topics", "chess", "-j", "1"]
    strategies = f"best-first,{own}:Long,blocks,weight-table"
    command += ["--strategies", strategies, "--budget", "1R", "-o", str(out)]
    process = subprocess.Popen(
        [*OPILIO, *command],
        env=os.environ,
        # Where the tests run in the background, Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    runs = out / "runs"
    for _ in range(1200):
        if runs.is_dir() and list(runs.glob("*.json")):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    while awaits(process.pid, signal.SIGINT):
        time.sleep(0.01)
    go.touch()  # the crawl under way ends; those after it do not begin
    assert process.wait(timeout=60) == 130
    first = {file.name for file in runs.glob("*.json")}
    assert len(first) == 1
    lab(*command[1:])
    assert first <= {file.name for file in runs.glob("*.json")}
    assert len((out / "runs.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--topic", "wasps"], "no topic 'wasps'"),
        (["--topic", "chess", "--strategy", "best"], "unknown strategy 'best'"),
        (["--topic", "chess", "--strategy", "blocks,most=4"], "unknown key 'most'"),
        (
            ["--topic", "chess", "--strategy", "blocks,paper"],
            "unknown strategy 'paper'",
        ),
        (["--topic", "chess", "--strategy", "none.py:X"], "none.py does not exist"),
        (["--topic", "chess", "--judge", "mine"], "unknown judge 'mine'"),
        (["--topic", "chess", "--budget", "much"], "--budget much"),
    ],
)
def test_mistakes_are_named(web: Path, arguments: list[str], told: str) -> None:
    done = CliRunner().invoke(app, ["lab", "run", "--web", str(web), *arguments])
    assert done.exit_code != 0
    assert told in str(done.exception)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("sys.exit(0)", "called sys.exit"),
        ("raise ValueError('boom')", "ValueError: boom"),
        ("subprocess.run(['cat', LABELS])", "start other programs"),
        ("os.open('labels.tsv', 0, dir_fd=os.open(WEB, 0))", "lets no crawl see"),
    ],
)
def test_a_strategy_that_misbehaves_fails_alone(
    web: Path, tmp_path: Path, line: str, told: str
) -> None:
    own = tmp_path / "bad.py"
    setting = f"import os, subprocess, sys\nWEB = {str(web)!r}\nLABELS = ''\n"
    own.write_text(setting + OWN.replace("for link in", f"{line}\n        for link in"))
    out = tmp_path / "out.json"
    arguments = [
        "--web",
        web,
        "--topic",
        "chess",
        "--budget",
        10,
        "--json",
        out,
        "-j",
        1,
    ]
    given = ["--strategy", f"{own}:Long", "--strategy", "best-first"]
    done = subprocess.run(
        [*OPILIO, "lab", "run", *map(str, arguments), *given],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert told in done.stderr
    assert len(done.stderr.splitlines()) < 20
    runs = [json.loads(line) for line in out.read_text().splitlines()]
    assert [run["strategy"] for run in runs] == ["best-first"]


def test_the_code_of_a_strategy_never_runs_where_the_labels_are(
    web: Path, tmp_path: Path
) -> None:
    own = tmp_path / "leak.py"
    own.write_text(f"open({str(web / 'labels.tsv')!r}).read()\n{OWN}")
    arguments = ["--web", str(web), "--topic", "chess", "--strategy", f"{own}:Long"]
    done = CliRunner().invoke(app, ["lab", "run", *arguments])
    assert "lets no crawl see" in str(done.exception)


def test_a_folder_is_for_one_comparison_at_a_time(web: Path, tmp_path: Path) -> None:
    with locked(tmp_path / "out"):
        arguments = ["--web", str(web), "-o", str(tmp_path / "out")]
        done = CliRunner().invoke(app, ["lab", "compare", *arguments])
    assert "another comparison" in str(done.exception)


def test_a_web_that_is_cut_short_is_noticed(web: Path, tmp_path: Path) -> None:
    for name in ("web.toml", "labels.tsv"):
        (tmp_path / name).write_bytes((web / name).read_bytes())
    (tmp_path / "topics").symlink_to(web / "topics")
    whole = (web / "pages.warc.gz").read_bytes()
    (tmp_path / "pages.warc.gz").write_bytes(whole[: len(whole) * 7 // 10])
    given = ["--web", str(tmp_path), "--topic", "chess", "--budget", "5"]
    assert "truncated" in CliRunner().invoke(app, ["lab", "run", *given]).stderr


def test_options_stay_with_their_strategy() -> None:
    given = ["blocks,mode=paper,best-first", " random ,"]
    assert named(given) == ["blocks,mode=paper", "best-first", "random"]


def test_a_run_is_the_same_on_another_day(web: Path, tmp_path: Path) -> None:
    pages = []
    for name in ("one.json", "two.json"):
        out = tmp_path / name
        lab(
            "run",
            "--web",
            web,
            "--topic",
            "chess",
            "--strategy",
            "random",
            "--budget",
            "1R",
            "--json",
            out,
        )
        pages.append(msgspec.json.decode(out.read_bytes())["pages"])
    assert pages[0] == pages[1]


def test_conditions_are_chosen_by_name_or_one_by_one(web: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    common = ("run", "--web", web, "--topic", "chess", "--budget", 40, "--json", out)
    seen = []
    for more in (
        (),
        ("--conditions", "real"),
        ("--conditions", "real", "--delay", 0, "--haste", 1),
        ("--breadth", 1),
    ):
        lab(*common, *more)
        run = json.loads(out.read_text())
        names = ("in_flight", "delay", "latency", "haste", "breadth")
        seen.append(([run[name] for name in names], run["hours"] > 0))
    assert seen == [
        ([1, 0, 0, None, None], False),
        ([64, 1, 0.3, None, None], True),
        ([64, 0, 0.3, 1, None], True),
        ([1, 0, 0, None, 1], False),
    ]


def test_a_report_states_its_conditions(web: Path, tmp_path: Path) -> None:
    told = lab(
        *("compare", "--web", web, "--topics", "chess", "--budget", 40, "-o", tmp_path),
        *("--strategies", "best-first", "--conditions", "real", "-j", 1),
    )
    assert "hours" in told
    report = (tmp_path / "report.html").read_text()
    assert "64 in flight, delay 1 s, latency 0.3 s" in report
    assert "hours a run in the mean" in report
