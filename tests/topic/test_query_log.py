"""A query log, read as it grows."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.topic.query_log import MARK, LoggedQuery, LogPosition, QueryLogFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "queries.txt"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def texts(log: QueryLogFile) -> list[str]:
    return [query.text for query in log.new()]


def test_a_query_a_line_and_each_only_once(path: Path):
    """Meenu et al., section 3.1: "a place where all the queries fired by users are
    stored"."""
    path.write_bytes(b"steam train\n\n  railways \n")
    log = QueryLogFile(path)
    assert log.grown()
    assert texts(log) == ["steam train", "railways"]
    assert not log.grown()
    assert texts(log) == []
    append(path, b"signal box\r\n")
    assert log.grown()
    assert texts(log) == ["signal box"]


def test_a_place_survives_a_restart_and_a_copy_of_the_file(path: Path):
    path.write_bytes(b"one\n" * 1000)
    log = QueryLogFile(path)
    assert len(texts(log)) == 1000
    copy = path.with_name("copy.txt")
    copy.write_bytes(path.read_bytes() + b"two\n")
    assert texts(QueryLogFile(copy, log.place)) == ["two"]


def test_a_count_may_follow_after_a_tab(path: Path):
    path.write_bytes(b"a\t12\nb\t2026-01-01\tx\nc\t0\n\t7\nd\t\ne\t99999999999999\n")
    assert list(QueryLogFile(path).new()) == [
        LoggedQuery("a", 12),
        LoggedQuery("b"),
        LoggedQuery("d"),
        LoggedQuery("e", 10**9),
    ]


def test_a_rotated_log_is_read_from_its_beginning(path: Path):
    path.write_bytes(b"old one\nold two\n")
    log = QueryLogFile(path)
    texts(log)
    path.rename(path.with_suffix(".1"))
    assert not log.grown()  # there is not a file just now
    assert texts(log) == []
    path.write_bytes(b"new\n" * 20)
    assert log.grown()
    assert texts(log) == ["new"] * 20


@pytest.mark.parametrize("data", [b"new\n", b"new and longer than before\n", b"NEWW\n"])
def test_a_truncated_log_is_read_from_its_beginning(path: Path, data: bytes):
    path.write_bytes(b"old\n")
    log = QueryLogFile(path)
    texts(log)
    path.write_bytes(data)
    assert texts(log) == [data.decode().strip()]


def test_a_first_look_takes_a_last_line_without_its_end(path: Path):
    path.write_bytes(b"one\ntwo")
    log = QueryLogFile(path)
    assert texts(log) == ["one", "two"]
    append(path, b"\nthree\n")
    assert texts(log) == ["three"]


def test_a_line_that_is_being_written_waits_for_its_end(path: Path):
    path.write_bytes(b"one\n")
    log = QueryLogFile(path)
    texts(log)
    append(path, b"railway sta")
    assert texts(log) == []
    assert not log.grown()
    append(path, b"tion\n")
    assert log.grown()
    assert texts(log) == ["railway station"]


def test_bytes_that_are_not_utf_8_are_read_as_windows_1252(path: Path):
    path.write_bytes(b"\xef\xbb\xbfcaf\xc3\xa9\ncaf\xe9\n\xff\x81\n")
    assert texts(QueryLogFile(path))[:2] == ["café", "café"]


def test_endless_lines_are_passed_over(path: Path):
    path.write_bytes(b"one\n" + b"x" * 50_000 + b"\ntwo\n" + b"y" * 9_000)
    log = QueryLogFile(path)
    assert texts(log) == ["one", "two"]
    append(path, b"y\nthree\n")
    assert texts(log) == ["three"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "does not exist"),
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        ("steam".encode("utf-16"), "UTF-8"),
        (b"SQLite format 3\0", "UTF-8"),
    ],
)
def test_a_log_that_cannot_be_used_is_told(path: Path, data: bytes, message: str):
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(BadInput, match=message):
        QueryLogFile(path).require()


def test_a_folder_is_no_log(tmp_path: Path):
    with pytest.raises(BadInput, match="is not a file"):
        QueryLogFile(tmp_path).require()


QUERIES = st.lists(
    st.text("ab é\n", min_size=1, max_size=MARK // 200).map(lambda text: text + "\n"),
    max_size=20,
)


@given(QUERIES, st.integers(1, 7))
def test_however_it_grows_each_query_is_told_once(queries: list[str], step: int):
    data = "".join(queries).encode()
    with TemporaryDirectory() as folder:
        path = Path(folder, "log")
        path.write_bytes(b"first\n")
        log = QueryLogFile(path)
        told = texts(log)
        for start in range(0, len(data), step):
            append(path, data[start : start + step])
            if log.grown():
                told += texts(QueryLogFile(path, log.place))
                log = QueryLogFile(path, log.place)
                texts(log)
        assert told == [
            line.strip()
            for line in f"first\n{data.decode()}".split("\n")
            if line.strip()
        ]


def test_a_place_in_a_half_taken_line_is_remembered(path: Path):
    path.write_bytes(b"half")
    log = QueryLogFile(path)
    texts(log)
    assert log.place == LogPosition(4, log.place.mark, True)
