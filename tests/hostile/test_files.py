"""Files: names that pages choose, state that somebody forged, and power that fails."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sqlite3
import struct
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from crawling import Crawled, opilio
from opilio.lab.hostile.cases import CASES
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.storage.database import Database, open_database
from opilio.store.warc_files import WarcWriter
from opilio.vectors.files import read_safetensors

TESTS = Path(__file__).parent.parent
NAMES = [
    "../../../etc/passwd",
    "..\\..\\windows",
    "%2e%2e%2f%2e%2e%2fx",
    "a\x00b",
    "CON",
    "nul.md",
    "x" * 300,
    "三" * 100,
    "-rf",
    "~root",
    "$(touch CANARY)",
    "/absolute",
    ".hidden",
    "",
]


@pytest.mark.parametrize(
    ("form", "out"),
    [("markdown", "pages"), ("wacz", "pages.wacz"), ("warc", "w.warc.gz")],
)
async def test_no_page_chooses_the_name_of_a_file(
    form: str, out: str, crawled, tmp_path: Path
) -> None:
    links = {f"/{n}/{name}": name for n, name in enumerate(NAMES)}
    web = {"http://seed.test/": page("Bees", "honey hive", links)}
    for number, name in enumerate(NAMES):
        text = f"The bees of hive {number} make honey. " * (5 + number)
        web[f"http://seed.test/{number}/"] = page(name, text)
        web["http://seed.test/"] += f'<a href="/{number}/">honey</a>'
    life: Crawled = await crawled(SmallWeb(web))
    assert (await life.crawl()).code == 0
    place = tmp_path / "out"
    place.mkdir()
    before = files_outside(tmp_path, place)
    ended = await opilio("export", life.folder, "-o", place / out, "--format", form)
    assert ended.code == 0, ended.err
    assert files_outside(tmp_path, place) == before
    names = [str(path.relative_to(place)) for path in place.rglob("*")]
    if form == "wacz":
        with zipfile.ZipFile(place / out) as archive:
            names += archive.namelist()
    if form == "markdown":
        assert len([name for name in names if name.endswith(".md")]) > len(NAMES) // 2
    for name in names:
        assert ".." not in name and not name.startswith(("/", "-", "~"))
        assert len(Path(name).name.encode()) < 255
        assert re.fullmatch(r"[\w./-]+", name), name


def files_outside(root: Path, place: Path) -> set[Path]:
    """All files, but for those that SQLite makes to read."""
    paths = (path for path in root.rglob("*") if place not in path.parents)
    return {path for path in paths if not path.name.endswith(("-wal", "-shm"))}


class Bomb:
    """Leaves a trace where it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.trace}",)


@pytest.mark.parametrize("command", ["crawl", "status", "search", "export", "repair"])
async def test_forged_state_is_not_executed(command: str, tmp_path: Path) -> None:
    """Every file and every learnt state of a crawl is a pickle that runs a program."""
    trace, folder = tmp_path / "trace", tmp_path / "bees"
    shutil.copytree(TESTS / "crawls-0.1" / "bees", folder)
    forged = pickle.dumps(Bomb(trace))
    for path in (folder / "models").iterdir():
        path.write_bytes(forged)
    (folder / "in-hand").write_bytes(forged)
    with closing(open_database(folder / "crawl.db")) as db:
        db.execute("UPDATE learnt SET state = ?", (forged,))
        db.execute("INSERT OR REPLACE INTO note VALUES (1, ?)", (forged,))
        db.execute("UPDATE indexed SET features = ?, words = ?", (forged, forged))
        db.execute("INSERT OR REPLACE INTO extracted SELECT id, ? FROM page", (forged,))
        db.execute("INSERT INTO new_promise VALUES (1, 0, 0, ?)", (forged,))
    more = {
        "search": ["honey"],
        "export": ["-o", str(tmp_path / "x.jsonl")],
        "crawl": ["--max-pages", "8"],
    }
    ended = await opilio(command, folder, *more.get(command, []))
    assert not trace.exists()
    assert "Traceback" not in ended.err, ended.err
    assert ended.code in (0, 1, 2), ended.err


@pytest.mark.parametrize("kind", ["pickle", "npz", "huge header", "no array", "empty"])
async def test_forged_vectors_are_refused(kind: str, tmp_path: Path) -> None:
    from opilio.errors import BadInput

    trace = tmp_path / "trace"
    forged = pickle.dumps(Bomb(trace))
    path = tmp_path / "v.safetensors"
    match kind:
        case "pickle":
            path.write_bytes(forged)
        case "npz":
            path = tmp_path / "v.npz"
            with zipfile.ZipFile(path, "w") as archive:
                head = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"
                size = struct.pack("<H", len(head))
                body = b"\x93NUMPY\x01\x00" + size + head + forged
                for name in ("vectors.npy", "words.npy", "matrix.npy", "vocab.npy"):
                    archive.writestr(name, body)
        case "huge header":
            path.write_bytes(struct.pack("<Q", 2**60) + b"{}")
        case "no array":
            path.write_bytes(struct.pack("<Q", 2) + b"[]")
        case "empty":
            path.write_bytes(b"")
    topic = tmp_path / "t.toml"
    topic.write_text('name = "b"\nkeywords = ["honey"]\nseeds = ["http://a.test/"]\n')
    told = await opilio(
        *("crawl", topic, "-o", tmp_path / "crawl", "--vectors", path),
        *("--allow-network", "127.0.0.0/8"),
    )
    assert told.code == 2 and "Traceback" not in told.err, told.err
    assert not trace.exists()
    if path.suffix == ".safetensors":
        with pytest.raises(BadInput):
            read_safetensors(path)


async def test_what_is_committed_was_on_disk_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Power may fail at any moment: the records of a page are synced before the
    transaction that names them, and that is synced by SQLite."""
    db = open_database(tmp_path / "crawl.db")
    assert db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    steps: list[str] = []
    (tmp_path / "warc").mkdir()
    sync = os.fsync

    def note(file: int) -> None:
        sync(file)
        steps.append(f"sync {Path(f'/proc/self/fd/{file}').readlink().name}")

    monkeypatch.setattr(os, "fsync", note)
    commit = Database.commit
    monkeypatch.setattr(
        Database, "commit", lambda self: steps.append("commit") or commit(self)
    )
    db.begin()
    warc = WarcWriter(tmp_path / "warc", db, 2**20)
    name, offset, length = warc.append(b"x" * 100)
    warc.record_length()
    db.commit()
    assert steps.index(f"sync {name}") < steps.index("commit")
    known = dict(db.execute("SELECT name, length FROM warc").fetchall())
    assert known[name] == offset + length == (tmp_path / "warc" / name).stat().st_size
    warc.close()
    db.close()


def test_there_is_a_folder_of_every_release() -> None:
    """`test_old_crawls.py` opens them; the newest version is not released yet."""
    told = re.findall(
        r"^## (\d+\.\d+)", (TESTS.parent / "CHANGELOG.md").read_text(), re.M
    )
    _, *released = told
    missing = [name for name in released if not (TESTS / f"crawls-{name}").is_dir()]
    assert released and not missing, f"make a crawl of {missing} (see old_crawls.py)"


def test_a_database_of_every_release_is_read_without_being_changed() -> None:
    paths = list(TESTS.glob("crawls-*/*/crawl.db"))
    assert paths
    for path in paths:
        before = path.read_bytes()
        with closing(open_database(path, read_only=True)) as db:
            assert db.execute("SELECT count(*) FROM silent_host").fetchone() == (0,)
        assert path.read_bytes() == before


async def test_a_crawl_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "bees"
    shutil.copytree(TESTS / "crawls-0.1" / "bees", folder)
    with closing(open_database(folder / "crawl.db")) as db:
        db.execute("UPDATE meta SET value = '999' WHERE key = 'version'")
    for command in ("status", "crawl"):
        ended = await opilio(command, folder)
        assert ended.code == 2 and "update Opilio" in ended.err, ended.err


def test_the_security_page_names_every_case_and_its_test() -> None:
    page = (TESTS.parent / "docs" / "security.md").read_text()
    rows = re.findall(r"^\| (\d+) \|.*\| `([\w./]+)` \|$", page, re.M)
    assert [int(number) for number, _ in rows] == list(range(1, 68))
    missing = [test for _, test in rows if not (TESTS.parent / test).is_file()]
    assert not missing
    attacks = set(re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.M))
    assert attacks >= set(CASES)


async def test_a_folder_of_a_stranger_cannot_change_files_elsewhere(crawled) -> None:
    life = await crawled(SmallWeb({"http://seed.test/": page("Bees", "honey hive")}))
    assert (await life.crawl()).code == 0
    victim = life.home / "victim.txt"
    victim.write_text("precious " * 1000)
    lock, [warc] = life.folder / "lock", (life.folder / "warc").iterdir()
    for file in (lock, warc):
        stored = file.read_bytes()
        file.unlink()
        file.symlink_to(victim)
        for command in ("crawl", "repair"):
            ended = await opilio(command, life.folder)
            assert ended.code == 2, ended.err
            assert f"{file.name} is a symbolic link" in ended.err
        file.unlink()
        file.write_bytes(stored)
    for name in (str(victim), "../../victim.txt"):
        with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
            db.execute("INSERT INTO warc VALUES (?, 3)", (name,))
        ended = await opilio("crawl", life.folder)
        assert ended.code == 2 and "not a file here" in ended.err, ended.err
        assert (await opilio("doctor", life.folder)).code == 1
        assert (await opilio("repair", life.folder)).code == 0
        assert (await opilio("doctor", life.folder)).code == 0
    assert victim.read_text() == "precious " * 1000


async def test_pipes_and_devices_in_a_folder_are_not_read(crawled) -> None:
    life = await crawled(SmallWeb({"http://seed.test/": page("Bees", "honey hive")}))
    assert (await life.crawl()).code == 0
    for name, command in (
        ("lock", ("status",)),
        ("models/brief.msgpack", ("search", "honey")),
        ("in-hand", ("crawl",)),
    ):
        file = life.folder / name
        stored = file.read_bytes()
        file.unlink()
        os.mkfifo(file)
        ended = await opilio(command[0], life.folder, *command[1:])
        assert ended.code == 2, ended.err
        assert f"{file} is neither a file nor a folder" in ended.err
        file.unlink()
        file.write_bytes(stored)
    assert (await opilio("status", life.folder)).code == 0
