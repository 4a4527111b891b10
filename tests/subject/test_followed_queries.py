"""The weight table of a running crawl follows the query log."""

from __future__ import annotations

from pathlib import Path

import pytest

from opilio.errors import BadInput
from opilio.subject.followed_queries import FollowedLog
from opilio.topic import QueryLog


def a_log(folder: Path, *queries: str) -> Path:
    path = folder / "queries.txt"
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{query}\n" for query in queries)
    return path


def followed(path: Path) -> FollowedLog:
    return FollowedLog(QueryLog(file=str(path), threshold=0.3), "en")


def changed(log: FollowedLog) -> list[str] | None:
    """What people ask for now, if that is something else than before."""
    return sorted(log.weights) if log.take(log.look()) else None


def test_the_first_table_is_made_of_all_queries(tmp_path: Path):
    log = followed(a_log(tmp_path, "steam engine", "steam train"))
    assert set(log.build()) == {"steam"}


def test_nothing_happens_until_the_log_has_grown(tmp_path: Path):
    log = followed(a_log(tmp_path, "steam engine"))
    log.build()
    assert log.look() is None


def test_new_queries_give_new_weights(tmp_path: Path):
    log = followed(a_log(tmp_path, "steam engine", "steam train"))
    log.build()
    a_log(tmp_path, "electric train", "electric train")
    assert changed(log) == ["electric", "train"]
    assert log.look() is None


def test_what_was_read_survives_a_restart(tmp_path: Path):
    path = a_log(tmp_path, "steam engine", "steam train")
    log = followed(path)
    log.build()
    learnt = log.dump()
    assert learnt is not None
    assert log.dump() is None
    again = followed(path)
    again.load(learnt)
    assert again.weights == log.weights
    a_log(tmp_path, "electric train", "electric train")
    assert changed(again) == changed(log) == ["electric", "train"]


def test_looking_changes_nothing_until_the_news_are_taken(tmp_path: Path):
    log = followed(a_log(tmp_path, "steam engine", "steam train"))
    before = log.build()
    a_log(tmp_path, "electric train", "electric train")
    assert log.look() is not None
    assert log.weights == before


def test_when_no_term_reaches_the_threshold_the_last_ones_stay(tmp_path: Path):
    log = followed(a_log(tmp_path, "steam engine", "steam train"))
    before = log.build()
    a_log(tmp_path, *(f"word{n} thing{n}" for n in range(50)))
    assert changed(log) is None
    assert log.weights == before


def test_a_log_that_has_gone_changes_nothing(tmp_path: Path):
    path = a_log(tmp_path, "steam engine")
    log = followed(path)
    log.build()
    path.unlink()
    assert log.look() is None


def test_a_missing_log_is_named(tmp_path: Path):
    with pytest.raises(BadInput, match=r"queries\.txt does not exist"):
        followed(tmp_path / "queries.txt").build()
