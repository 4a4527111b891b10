"""What the lab gives a crawl beyond its topic: example pages, and labels on the way."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from opilio.assembly.plan import Plan
from opilio.cli import app
from opilio.errors import BadInput, OpilioError
from opilio.judge.languages import InLanguages
from opilio.lab.compare import WantedRuns, run_comparison, trial_of
from opilio.lab.label_schedule import spacing
from opilio.lab.runs import LabTask
from opilio.lab.seeds_and_targets import Ground, SeedsMode
from opilio.lab.teacher import Teacher
from opilio.lab.trial import conduct
from opilio.protocols import Teachable
from opilio.records import Page, Subject, Verdict

LISTENS = '''
from pathlib import Path
from opilio.strategies.best_first import BestFirst

class Listens(BestFirst):
    """Visits links of pages that were called relevant first."""

    told = 0

    def teach(self, page, relevant):
        self.told += 1

    def rank(self, page, verdict, lease):
        for ranked in super().rank(page, verdict, lease):
            yield type(ranked)(ranked.link, self.told + ranked.promise)
'''
ASKS = LISTENS.replace(
    "        self.told += 1",
    """        import gc
        from opilio.lab.teacher import Ticket
        for one in gc.get_objects():
            lessons = getattr(one, "lessons", None)
            if lessons is not None and not self.told:
                lessons.ticket.ask(page.links[0].url)
        self.told += 1""",
)


class Pupil:
    """A judge that notes what it is taught."""

    def __init__(self) -> None:
        self.taught: dict[str, bool] = {}
        self.judged: list[str] = []

    def judge(self, page: Page) -> Verdict:
        self.judged.append(page.url)
        return Verdict(0.5, True, {})

    def teach(self, page: Page, relevant: bool) -> None:
        assert page.url == self.judged[-1]
        self.taught[page.url] = relevant


def task(ground: Ground, strategy: str = "best-first", **given: int) -> LabTask:
    topic = next(iter(ground.web.topics))
    return LabTask(web="", topic=topic, strategy=strategy, judge="cosine", **given)


@pytest.mark.parametrize("mode", [SeedsMode.NEAR, SeedsMode.HOME])
def test_examples_are_relevant_pages_that_count_as_no_target(
    ground: Ground, mode: SeedsMode
) -> None:
    plain = ground.course("chess", mode)
    given = ground.course("chess", mode, examples=5, counterexamples=3)
    assert len(set(given.examples)) == 5
    assert set(given.examples) <= plain.relevant
    assert not set(given.counterexamples) & plain.relevant
    assert not set(given.examples) & {*given.seeds, *given.targets}
    assert given.seeds == plain.seeds
    contents = {
        ground.atlas.seen[ground.atlas.numbers[url]].content for url in given.examples
    }
    assert not contents & set(given.targets.values())
    in_reach = contents & set(plain.targets.values())
    assert plain.R - len(in_reach) == given.R
    assert given.budget == 3 * given.R


def test_the_same_examples_are_drawn_each_time_and_more_begin_with_fewer(
    ground: Ground,
) -> None:
    five = ground.course("chess", examples=5).examples
    assert five == ground.course("chess", examples=5).examples
    assert ground.course("chess", examples=8).examples[:5] == five
    assert ground.course("chess", repeat=1, examples=5).examples != five
    assert ground.course("volcano", examples=5).examples != five


def test_more_examples_than_there_are_pages_is_refused(ground: Ground) -> None:
    with pytest.raises(BadInput, match="ask for fewer"):
        ground.course("chess", examples=5_000)


def test_a_crawl_reads_its_examples(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subjects: list[Subject] = []

    def look(plan: Plan, subject: Subject) -> Pupil:
        subjects.append(subject)
        return Pupil()

    monkeypatch.setattr("opilio.lab.trial.make_judge", look)
    course = ground.course("chess", budget="5", examples=3, counterexamples=2)
    conduct(trial_of(ground, course, task(ground), tmp_path))
    assert len(subjects[0].relevant) == 3
    assert len(subjects[0].irrelevant) == 2
    assert any("chess" in page.terms for page in subjects[0].relevant)


def test_a_judge_is_taught_true_labels_of_pages_it_has_just_judged(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pupil = Pupil()
    monkeypatch.setattr("opilio.lab.trial.make_judge", lambda *_: pupil)
    course = ground.course("chess", budget="100")
    trial = trial_of(ground, course, task(ground), tmp_path)
    with Teacher() as teacher:
        ticket = teacher.ticket(course.relevant, 8)
        trace = conduct(msgspec.structs.replace(trial, ticket=ticket))
        told = teacher.collect(ticket)
    assert len(told) == 8
    assert told == pupil.taught
    assert told == {url: url in course.relevant for url in told}
    assert set(told.values()) == {True, False}
    requests = [one.request for one in trace.taught]
    assert requests == sorted(requests)
    assert all(one >= 5 * place for place, one in enumerate(requests, 1))
    assert requests[-1] <= 50
    visited = [visit.url for visit in trace.visits]
    assert all(one.url in visited[: one.request] for one in trace.taught)


def test_a_teacher_gives_no_more_labels_than_the_ticket_is_good_for() -> None:
    with Teacher() as teacher:
        ticket = teacher.ticket({"http://a.test/0"}, 3)
        asked = [f"http://a.test/{number}" for number in range(3)]
        assert [ticket.ask(url) for url in asked] == [True, False, False]
        assert ticket.ask(asked[0])  # which was told before
        with pytest.raises(OpilioError, match="all 3 were given"):
            ticket.ask("http://a.test/3")
        assert list(teacher.collect(ticket)) == asked
        with pytest.raises(OpilioError, match="gives no label"):
            ticket.ask(asked[0])  # the ticket was taken back


def test_many_crawls_ask_at_a_time() -> None:
    with Teacher() as teacher, ThreadPoolExecutor(8) as threads:
        tickets = [teacher.ticket({"http://a.test/1"}, 20) for _ in range(8)]
        answers = threads.map(
            lambda ticket: [ticket.ask(f"http://a.test/{n}") for n in range(20)],
            tickets,
        )
        assert all(sum(answer) == 1 and answer[1] for answer in answers)


@pytest.mark.parametrize(
    ("budget", "labels", "every"), [(600, 20, 5), (90, 20, 2), (10, 20, 1)]
)
def test_labels_are_spread_over_the_first_half(
    budget: int, labels: int, every: int
) -> None:
    assert spacing(budget, labels) == every


def test_those_who_do_not_listen_get_no_labels_and_crawl_as_before(
    ground: Ground, tmp_path: Path
) -> None:
    runs = []
    for labels in (0, 10):
        wanted = WantedRuns(
            topics=["chess"], strategies=["best-first"], budget="60", labels=labels
        )
        runs += run_comparison(ground, wanted, tmp_path)
    assert runs[0].trace.visits == runs[1].trace.visits
    assert [done.run.labels_given for done in runs] == [0, 0]
    assert [done.run.task.labels for done in runs] == [0, 10]


def test_a_strategy_that_listens_is_told_in_a_process_without_labels(
    ground: Ground, tmp_path: Path
) -> None:
    own = tmp_path / "own.py"
    own.write_text(LISTENS)
    wanted = WantedRuns(
        topics=["chess"], strategies=[f"{own}:Listens"], budget="60", labels=6
    )
    [done] = run_comparison(ground, wanted, tmp_path / "out")
    relevant = ground.course("chess").relevant
    assert done.run.labels_given == len(done.trace.taught) == 6
    assert all(one.relevant == (one.url in relevant) for one in done.trace.taught)
    [again] = run_comparison(ground, wanted, tmp_path / "out")
    assert again.trace == done.trace


def test_a_strategy_that_asks_by_itself_fails(ground: Ground, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(ASKS)
    wanted = WantedRuns(
        topics=["chess"], strategies=[f"{own}:Listens"], budget="60", labels=6
    )
    with pytest.raises(OpilioError, match=r"by itself|all 6 were given"):
        list(run_comparison(ground, wanted, tmp_path / "out"))


def test_runs_say_what_was_given(lab_web: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    arguments = ["lab", "run", "--web", str(lab_web), "--topic", "chess"]
    arguments += ["--examples", "4", "--counterexamples", "2", "--labels", "7"]
    told = CliRunner().invoke(app, [*arguments, "--budget", "20", "--json", str(out)])
    assert told.exit_code == 0, told.output
    run = json.loads(out.read_text())
    assert (run["examples"], run["counterexamples"], run["labels"]) == (4, 2, 7)
    assert len(run["example_pages"]["examples"]) == 4
    assert len(run["example_pages"]["counterexamples"]) == 2
    assert run["labels_given"] == 0


def test_a_judge_of_wanted_languages_listens_if_the_inner_one_does() -> None:
    pupil = Pupil()
    listening = InLanguages(pupil, ["en"])
    assert isinstance(listening, Teachable)

    class Deaf:
        def judge(self, page: Page) -> Verdict:
            return Verdict(0.0, False, {})

    assert not isinstance(InLanguages(Deaf(), ["en"]), Teachable)
