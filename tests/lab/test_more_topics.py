"""Topics made from labels can be crawled for, from the web and from outside it."""

from pathlib import Path

from bench.more_topics import write

from lab.lab_grounds import ground_of
from opilio.lab.webs import open_web
from opilio.topic import load_topic


def test_topics_of_labels_have_the_most_central_pages_as_seeds(
    lab_web: Path, tmp_path: Path
) -> None:
    wanted = {"chess": ("chess", "pawn"), "volcano": ("volcano",)}
    write(open_web(lab_web), tmp_path / "more", wanted)
    write(open_web(lab_web), tmp_path / "more", wanted)  # once more does no harm
    ground = ground_of(tmp_path / "more")
    assert list(ground.web.topics) == ["chess", "volcano"]
    topic = load_topic(ground.web.topics["chess"])
    assert topic.keywords == ("chess", "pawn")
    course = ground.course("chess")
    assert len(course.seeds) == 2
    assert set(course.seeds) <= set(course.targets)
    assert course.R > 50
