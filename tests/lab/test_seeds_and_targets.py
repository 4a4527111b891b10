"""What there is to be found from some seeds, and the ways to start."""

from __future__ import annotations

from pathlib import Path

import pytest

from opilio.errors import BadInput
from opilio.lab.seeds_and_targets import Ground, SeedsMode
from opilio.lab.synthetic.small import SmallWeb, page, redirect
from opilio.lab.web_pages import Atlas, SeenAnswer, open_atlas
from opilio.lab.webs import LabWeb, as_response
from opilio.store.warc_records import pack_response
from opilio.text import urls

HOST = "http://a.test"


def small_ground(tmp_path: Path, topic: str = "", labels: str = "bees") -> Ground:
    """home -> hub -> bee1, bee2 (also at another URL), an old address -> bee3; an
    island that no link leads to."""
    web = SmallWeb(
        {
            f"{HOST}/": page("home", "", {"/hub": "hub", "/gone": "gone"}),
            f"{HOST}/hub": page("hub", "", {"/bee1": "1", "/bee2": "2", "/old": "3"}),
            f"{HOST}/bee1": page("one bee"),
            f"{HOST}/bee2": page("two bees", "", {"/twin": "the same"}),
            f"{HOST}/twin": page("two bees", "", {"/twin": "the same"}),
            f"{HOST}/old": redirect("/bee3"),
            f"{HOST}/bee3": page("three bees"),
            f"{HOST}/island": page("a bee on an island"),
        }
    )
    warc = tmp_path / "pages.warc.gz"
    responses = (
        as_response(url, web.respond(url)) for url in [*web.answers, f"{HOST}/gone"]
    )
    warc.write_bytes(b"".join(map(pack_response, responses)))
    (tmp_path / "labels.tsv").touch()
    path = tmp_path / "bees.toml"
    seeds = f'name = "bees"\nkeywords = ["bee"]\nseeds = ["{HOST}/"]\n'
    path.write_text(f'{seeds}{topic}\n[evaluation]\nrelevant_labels = ["{labels}"]\n')
    files = {"bees": path}
    lab_web = LabWeb(
        name="small",
        title="",
        warcs=(warc,),
        labels=tmp_path / "labels.tsv",
        topics=files,
    )
    relevant = ["bee1", "bee2", "twin", "bee3", "island", "gone", "old"]
    known = {f"{HOST}/{name}": ("bees.wild",) for name in relevant}
    return Ground(lab_web, open_atlas((warc,)), known)


def test_targets_are_the_relevant_pages_that_the_seeds_lead_to(tmp_path: Path) -> None:
    course = small_ground(tmp_path).course("bees")
    # Not the island; a dead link and a redirect are no pages; twins are one target.
    names = {url.rpartition("/")[2] for url in course.targets}
    assert names == {"bee1", "bee2", "twin", "bee3"}
    assert course.R == 3
    assert course.budget == 9
    assert f"{HOST}/island" in course.relevant


def test_the_oracle_pays_for_every_request_on_its_way(tmp_path: Path) -> None:
    course = small_ground(tmp_path).course("bees")
    # home, hub, bee1, bee2, old, bee3
    assert list(course.oracle_found_at) == [3, 4, 6]
    assert course.oracle.wasted == pytest.approx(1 / 6)
    assert course.oracle.recall == 1


def test_a_crawl_is_told_no_label(tmp_path: Path) -> None:
    assert not small_ground(tmp_path).course("bees").topic.evaluation.relevant_labels


def test_what_is_out_of_scope_is_no_target(tmp_path: Path) -> None:
    scope = '[scope]\nexclude_paths = ["/bee1", "/old"]'
    course = small_ground(tmp_path, scope).course("bees")
    assert {url.rpartition("/")[2] for url in course.targets} == {"bee2", "twin"}


@pytest.mark.parametrize(
    ("budget", "requests"), [("3R", 9), ("1.5r", 4), ("R", 3), ("50%", 4), ("8", 8)]
)
def test_budgets(tmp_path: Path, budget: str, requests: int) -> None:
    assert small_ground(tmp_path).course("bees", budget=budget).budget == requests


def test_a_budget_is_at_most_what_there_is_to_ask_for(tmp_path: Path) -> None:
    assert small_ground(tmp_path).course("bees", budget="9" * 30).budget == 9


@pytest.mark.parametrize("budget", ["0", "-3", "R3", "much", "nan%", "infR", ""])
def test_a_budget_that_is_none_is_refused(tmp_path: Path, budget: str) -> None:
    with pytest.raises(BadInput, match="--budget"):
        small_ground(tmp_path).course("bees", budget=budget)


def test_a_topic_without_labels_is_refused(tmp_path: Path) -> None:
    ground = small_ground(tmp_path)
    path = tmp_path / "other.toml"
    path.write_text('name = "x"\nkeywords = ["bee"]\n')
    with pytest.raises(BadInput, match="relevant_labels"):
        ground.course(str(path))
    with pytest.raises(BadInput, match="it has bees"):
        ground.course("wasps")


def test_seeds_outside_the_web_are_refused(tmp_path: Path) -> None:
    ground = small_ground(tmp_path)
    path = ground.web.topics["bees"]
    path.write_text(path.read_text().replace(f"{HOST}/", "http://b.test/"))
    with pytest.raises(BadInput, match="none of the seeds"):
        ground.course("bees")


def test_the_home_of_a_host_is_its_root(tmp_path: Path) -> None:
    assert small_ground(tmp_path).homes() == [f"{HOST}/"]


def test_without_a_root_the_home_is_a_much_linked_page_that_leads_on() -> None:
    def seen(name: str, *links: str) -> SeenAnswer:
        numbers = [urls.fingerprint(f"{HOST}/{link}") for link in links]
        return SeenAnswer(f"{HOST}/{name}", hash(name) or 1, numbers)

    atlas = Atlas(
        "",
        [
            seen("a", "hub", "licence"),
            seen("b", "hub", "licence"),
            seen("hub", "a", "b", "licence"),
            seen("licence"),
        ],
    )
    web = LabWeb(name="", title="", warcs=(), labels=Path(), topics={})
    assert Ground(web, atlas, {}).homes() == [f"{HOST}/hub"]


def test_far_seeds_are_far_from_every_target_and_lead_to_most(tmp_path: Path) -> None:
    # The hub links to targets, so only the home is far from them.
    course = small_ground(tmp_path).course("bees", SeedsMode.FAR)
    assert course.seeds == (f"{HOST}/",)
    assert course.R == 3


def test_a_web_that_is_too_small_for_far_seeds_says_so(tmp_path: Path) -> None:
    topic = '[scope]\nexclude_paths = ["/hub"]'
    with pytest.raises(BadInput, match="--seeds-mode near"):
        small_ground(tmp_path, topic).course("bees", SeedsMode.FAR)


def test_repetitions_start_elsewhere_and_each_always_at_the_same_pages(
    ground: Ground,
) -> None:
    topic = next(iter(ground.web.topics))
    seeds = [ground.course(topic, repeat=repeat).seeds for repeat in (0, 1, 2, 1)]
    assert seeds[1] == seeds[3]
    assert len({*seeds}) == 3
    assert len({*map(len, seeds)}) == 1
