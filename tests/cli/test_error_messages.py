"""What is said when the machine refuses something: what, where, and what to do."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from crawling import OPILIO, Crawled, Ended, opilio
from opilio.cli.error_messages import explained
from opilio.errors import BadInput, MachineLimit
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.small import SmallWeb, page

URL = "http://seed.test/"
WEB = SmallWeb({URL: page("Bees of Łódź", "The bee makes honey. " * 20)})
WITHOUT_POWER = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
# A disk in a name space of its own: nothing is left of it.
FULL_DISK = """
mount -t tmpfs -o size=1m none "$1" && cp -r "$2" "$1/crawl" || exit 77
cat /dev/zero > "$1/all of it" 2> /dev/null
shift 2
exec "$@"
"""


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """A crawl that has ended."""

    async def crawl_it() -> Crawled:
        async with serve(WEB) as server:
            life = Crawled(tmp_path_factory.mktemp("home"), server)
            ended = await life.crawl()
            assert ended.code == 0, ended.err
            return life

    return asyncio.run(crawl_it())


@pytest.fixture
def done(crawl: Crawled, tmp_path: Path) -> Crawled:
    """The same, with a folder to be spoilt."""
    (tmp_path / "home").mkdir()
    life = Crawled(tmp_path / "home")
    shutil.copytree(crawl.folder, life.folder)
    return life


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Where a full disk is mounted, with the crawl in its folder `crawl`."""
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


def run(*command: object) -> Ended:
    """Run a command, maybe by way of another that changes what it may."""
    ended = subprocess.run(list(map(str, command)), capture_output=True, timeout=60)
    return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def run_here(*arguments: object) -> Ended:
    """Run opilio as it is."""
    return asyncio.run(opilio(*arguments))


def on_full_disk(disk: Path, life: Crawled, *arguments: object) -> Ended:
    """Run opilio where there is no room."""
    through = ("unshare", "-rm", "sh", "-c", FULL_DISK, "sh", disk, life.folder)
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare to make a disk with")
    ended = run(*through, OPILIO, *arguments)
    if ended.code == 77 or "unshare" in ended.err:
        pytest.skip("no disk can be made here: mounting is not permitted")
    return ended


def as_somebody(*arguments: object) -> Ended:
    """Run opilio as a user to whom permissions apply."""
    if os.geteuid() != 0:
        return run(OPILIO, *arguments)
    if not shutil.which("setpriv"):
        pytest.skip("to root permissions do not apply, and there is no setpriv")
    return run(*WITHOUT_POWER, OPILIO, *arguments)


def test_a_crawl_on_a_full_disk_names_the_folder_and_the_remedy(done, disk):
    for named in ((disk / "crawl",), (done.topic, "-o", disk / "new")):
        ended = on_full_disk(disk, done, "crawl", *named, "-q")
        assert ended.code == 3, ended.err
        assert f"the disk of {named[-1]} is full" in ended.err
        assert "free some space and run the same command" in ended.err


def test_an_intact_crawl_is_read_also_on_a_full_disk(done, disk):
    for command, *others in (("status",), ("export", "-o", "-"), ("search", "bee")):
        ended = on_full_disk(disk, done, command, disk / "crawl", *others)
        assert ended.code == 0, ended.err


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_an_export_to_a_full_disk_names_the_file(done, form):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    ended = run_here("export", done.folder, "-f", form, "-o", "/dev/full")
    assert ended.code == 3, ended.err
    assert "/dev/full cannot be written: No space left" in ended.err


def test_what_cannot_be_printed_is_not_blamed_on_the_disk_of_the_crawl(done):
    shell = ("sh", "-c", 'exec "$@" > /dev/full', "sh")
    for told in ("--json",), ():
        ended = run(*shell, OPILIO, "status", done.folder, *told)
        assert ended.code == 3, ended.err
        assert "standard output cannot be written" in ended.err


def is_protected(name: str) -> Callable[[Path], None]:
    def protect(folder: Path) -> None:
        (folder / name).chmod(0o500 if (folder / name).is_dir() else 0)

    return protect


def is_folder(name: str) -> Callable[[Path], None]:
    def replace(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return replace


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (is_protected("."), "crawl.new"),
        (is_protected("lock"), "lock"),
        (is_protected("in-hand"), "in-hand"),
        (is_protected("warc/000001.warc.gz"), "warc/000001.warc.gz"),
        (is_protected("crawl.db"), "crawl.db"),
    ],
    ids=["folder", "lock", "in-hand", "warc", "crawl.db"],
)
def test_a_protected_file_is_named_with_the_remedy(done, change, name):
    change(done.folder)
    try:
        ended = as_somebody("crawl", done.folder, "-q")
    finally:
        done.folder.chmod(0o700)
    assert ended.code == 2, ended.err
    assert f"{done.folder / name} cannot be used" in ended.err
    assert "chmod" in ended.err and "copy" not in ended.err


@pytest.mark.parametrize("name", ["lock", "in-hand", "crawl.db"])
def test_a_folder_in_the_place_of_a_file_is_named(done, name):
    is_folder(name)(done.folder)
    ended = run_here("crawl", done.topic, "-o", done.folder, "-q")
    assert ended.code == 2
    assert f"{done.folder / name} is a folder, but must be a file" in ended.err


def test_pages_that_may_not_be_read_are_not_called_damaged(done, tmp_path):
    is_protected("warc/000001.warc.gz")(done.folder)
    ended = as_somebody("export", done.folder, "-o", tmp_path / "pages.warc.gz")
    assert "damaged" not in ended.err
    assert "cannot be read: no permission" in ended.err


def test_a_damaged_subject_costs_no_pages(done):
    (done.folder / "models" / "brief.msgpack").write_bytes(b"?")
    ended = run_here("crawl", done.folder, "-q")
    assert ended.code == 2
    assert "--fresh" not in ended.err
    assert f"remove {done.folder}/models" in ended.err
    shutil.rmtree(done.folder / "models")
    ended = run_here("crawl", done.folder, "-q")
    assert ended.code == 0, ended.err
    assert ended.json()["pages_in_all"] == 1


@pytest.mark.parametrize(
    ("kind", "expected", "remedy"),
    [
        ("SQLITE_FULL", MachineLimit, "free some space"),
        ("SQLITE_IOERR_SHMSIZE", MachineLimit, "free some space"),
        ("SQLITE_IOERR_READ", BadInput, "disk may be failing"),
        ("SQLITE_BUSY", BadInput, "wait for it"),
        ("SQLITE_READONLY", BadInput, "chmod"),
        ("SQLITE_CORRUPT", BadInput, "restore it from a backup"),
        ("SQLITE_NOTADB", BadInput, "restore it from a backup"),
    ],
)
def test_only_a_bad_database_is_to_be_replaced(tmp_path, kind, expected, remedy):
    error = sqlite3.OperationalError("it does not work")
    error.sqlite_errorname = kind
    told = explained(error, tmp_path)
    assert isinstance(told, expected)
    assert remedy in str(told) and str(tmp_path) in str(told)


def test_what_is_not_known_is_told_as_it_is():
    assert explained(ConnectionRefusedError(111, "refused"), None) is None


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_export_whose_reader_has_seen_enough_is_no_failure(done, form):
    ended = run(
        *("bash", "-c", '"$@" | head -c 10; echo " ${PIPESTATUS[0]}"', "bash"),
        *(OPILIO, "export", done.folder, "-f", form, "-o", "-"),
    )
    assert ended.out.endswith(" 0\n")
    assert ended.err == ""


def test_an_export_to_a_closed_standard_output_says_so(done):
    command = (OPILIO, "export", done.folder, "-o", "-")
    ended = run("sh", "-c", '"$@" >&-', "sh", *command)
    assert ended.code == 2
    assert "standard output is closed; name a file" in ended.err


@pytest.mark.parametrize(
    "encoding",
    [
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["latin-1", "ascii"],
)
def test_what_an_encoding_lacks_is_replaced(done, encoding):
    for command, *others in (("search", "bee"), ("explain", URL), ("sites",)):
        ended = subprocess.run(
            [OPILIO, command, done.folder, *others],
            capture_output=True,
            env=os.environ | encoding,
        )
        assert ended.returncode == 0, ended.stderr.decode()
        assert b"Bees of ?" in ended.stdout


def test_a_database_without_a_format_is_named(done):
    with closing(sqlite3.connect(done.folder / "crawl.db")) as db:
        db.execute("UPDATE meta SET value = 'abc' WHERE key = 'version'")
        db.commit()
    ended = run_here("status", done.folder)
    assert ended.code == 2
    assert f"{done.folder}/crawl.db is damaged (its format is 'abc'" in ended.err


@pytest.mark.parametrize("most", [12, 24])
def test_too_few_open_files_are_told_in_one_line(done, most):
    command = (OPILIO, "crawl", done.folder, "-q")
    ended = run("sh", "-c", f'ulimit -n {most}; exec "$@"', "sh", *command)
    assert ended.code == 3
    [line] = ended.err.splitlines()
    assert f"allows {most}; allow more with `ulimit -n 1024`" in line


def test_a_crawl_whose_proxy_is_gone_says_that_it_was_made_through_it(done):
    ended = run_here("crawl", done.folder, "--seed-url", f"{URL}more")
    assert ended.code == 2, ended.err
    assert "does not work" in ended.err
    assert "continues through the proxy it was made with" in ended.err
