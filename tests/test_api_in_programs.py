"""The code of docs/reference/python-api.md runs in a script, under asyncio and in a
notebook, and passes mypy."""

import asyncio
import signal
import sys
import textwrap
import warnings
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bee_web import bee_web
from doc_examples import blocks, own_modules, python
from opilio import Crawl
from opilio.lab.synthetic.server import serve

BEGIN, LATER, WITH_ASYNCIO, AGAIN, *_ = blocks("reference/python-api.md")
DEFINITIONS, LOOP = BEGIN.split("for page in crawl", 1)
LOOP_FOREVER = "for page in crawl:\n    print(page.url, flush=True)\n"
RUN_FOREVER = """
import threading, time

def begun() -> bool:
    try:
        return crawl.status().pages > 0
    except Exception:  # there is no folder yet, or no table in its database
        return False

def look() -> None:
    while not begun():
        time.sleep(0.05)
    print("begun", flush=True)

threading.Thread(target=look, daemon=True).start()
crawl.run()
"""
STOP = """
more = opilio.Crawl("bees-crawl", judge=MyJudge(), max_pages=200)
async for page in more:
    break
crawl.status().last_event["detail"]
"""


@pytest.fixture
async def adapt(tmp_path: Path) -> AsyncIterator:
    """Lets code crawl a web on loopback, quickly, instead of example.org."""
    async with serve(bee_web("http://127.0.0.1", 200)) as server:

        def adapted(code: str) -> str:
            for shown, tested in {
                "https://example.org/": f"http://127.0.0.1:{server.port}/",
                "delay=1.0": "delay=0.01, ip_delay=0.01, min_free=0",
                "max_pages=500,": "max_pages=6,",
                "max_pages=5000": "max_pages=12",
            }.items():
                code = code.replace(shown, tested)
            return code

        yield adapted


async def test_a_script(adapt, tmp_path: Path):
    script = tmp_path / "bees.py"
    script.write_text(adapt(BEGIN + LATER + AGAIN), encoding="utf-8")
    code, out = await python(script, cwd=tmp_path)
    assert code == 0, out
    lines = out.splitlines()
    titles = [line for line in lines if line.startswith("1.0 Bees")]
    # 6 pages as they are kept, then all 12 best first, each of them kept
    assert len(titles) == 6 + 12
    assert "12 of 12 pages are about bees" in lines
    assert 0.9 < float(lines[-2]) <= 1  # the harvest rate
    before, _, after = lines[-1].partition(" → 0 ")  # no page is about queens
    assert int(before) >= 12 and after.count("http://") == int(before)
    assert any(line.endswith("pages written") for line in lines)
    assert (tmp_path / "bees.parquet").read_bytes().startswith(b"PAR1")


async def test_a_coroutine(adapt, tmp_path: Path):
    body = textwrap.indent(WITH_ASYNCIO + "print(summary.pages)\n", "    ")
    program = f"{DEFINITIONS}\nasync def main():\n{body}\n"
    script = tmp_path / "bees.py"
    run = "import asyncio\nasyncio.run(main())\n"
    script.write_text(adapt(program + run), encoding="utf-8")
    code, out = await python(script, cwd=tmp_path)
    assert code == 0, out
    *pages, summary = out.splitlines()
    assert len(set(pages)) == 6
    assert all(page.startswith("http://127.0.0.1") for page in pages)
    assert summary == "12"


async def test_a_notebook(adapt, tmp_path: Path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own
        import nbformat
        from nbclient import NotebookClient

        cells = [adapt(cell) for cell in (BEGIN, LATER, WITH_ASYNCIO)]
        cells.append(STOP)
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
        )
        client = NotebookClient(
            notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}
        )
        await client.async_execute()
    printed = [
        "".join(output.get("text", "") for output in cell.outputs)
        for cell in notebook.cells
    ]
    assert printed[0].count("1.0 Bees") == 6
    assert "12 of 12 pages are about bees" in printed[1]
    shown = notebook.cells[-1].outputs[-1]["data"]["text/plain"]
    assert shown == "{'reason': 'interrupted'}"


@pytest.mark.parametrize("way", [LOOP_FOREVER, RUN_FOREVER])
async def test_ctrl_c_stops_a_crawl_cleanly(adapt, tmp_path: Path, way: str):
    script = tmp_path / "bees.py"
    slow = DEFINITIONS.replace("delay=1.0", "delay=0.1").replace("500", "100")
    script.write_text(adapt(slow + way), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable, script, cwd=tmp_path, stdout=PIPE, stderr=PIPE
    )
    assert process.stdout
    await asyncio.wait_for(process.stdout.readline(), 100)
    process.send_signal(signal.SIGINT)
    _, error = await asyncio.wait_for(process.communicate(), 100)
    assert process.returncode == -signal.SIGINT
    assert error.decode().endswith("KeyboardInterrupt\n"), error.decode()
    status = Crawl(tmp_path / "bees-crawl").status()
    assert status.last_event is not None
    assert status.last_event["detail"] == {"reason": "interrupted"}
    assert 1 <= status.pages < 100


async def test_a_program_may_end_without_ending_its_crawl(adapt, tmp_path: Path):
    script = tmp_path / "bees.py"
    slow = DEFINITIONS.replace("delay=1.0", "delay=0.1").replace("500", "100")
    end = "pages = iter(crawl)\nprint(next(pages).url)\n"
    script.write_text(adapt(slow + end), encoding="utf-8")
    code, out = await python(script, cwd=tmp_path)
    assert code == 0, out
    assert out.startswith("http://127.0.0.1")
    assert len(out.splitlines()) == 1
    assert Crawl(tmp_path / "bees-crawl").status().pages >= 1


async def test_a_program_passes_mypy_strict(tmp_path: Path):
    """The snippets and the extensions of the docs, with and without mistakes."""
    body = textwrap.indent(WITH_ASYNCIO, "    ")
    typed = f"{BEGIN}{LATER}\nasync def main() -> None:\n{body}\n"
    (tmp_path / "program.py").write_text(typed, encoding="utf-8")
    for name, code in own_modules().items():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    (tmp_path / "uses.py").write_text(USES, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    files = ["program.py", "uses.py", *(f"{name}.py" for name in own_modules())]
    command = ("-m", "mypy", "--strict", "--cache-dir", ".cache")
    code, out = await python(*command, *files, cwd=tmp_path)
    assert code == 0, out
    code, out = await python(*command, "wrong.py", cwd=tmp_path)
    assert code == 1
    assert out.count("error:") == 2, out


USES = """
import opilio
from address_list import AddressList
from long_anchors import LongAnchors
from reading_list import ReadingList
from sentences import Sentences

topic = opilio.Topic(name="bees", keywords=["bee", opilio.Keyword(term="hive")])
crawl = opilio.Crawl(
    "c", topic, strategy=LongAnchors, judge=Sentences, seeds=[AddressList(), "http://a.test"]
)
try:
    exported: opilio.Exported = crawl.export("bees.md", ReadingList())
    text: str = next(crawl.pages()).text
except opilio.BadInput as error:
    print(error)
"""

WRONG = """
import opilio


class NoJudge:
    def judge(self, page: str) -> int:
        return len(page)


crawl = opilio.Crawl("c", judge=NoJudge())
score: str = next(crawl.pages()).score
"""
