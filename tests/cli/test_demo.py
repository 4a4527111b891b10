"""`opilio demo`, with fewer pages than usual, and the commands that it suggests."""

import asyncio
import re

from crawling import OPILIO
from in_process import run_beside
from opilio.cli import demo


async def test_the_commands_that_the_demo_suggests_work_as_printed(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(demo, "PAGES", 25)
    monkeypatch.chdir(tmp_path)  # commands are for where the demo ran
    folder = tmp_path / "my crawl"
    ended = await run_beside("demo", "-o", folder)
    assert ended.code == 0, ended.err
    assert "of 25 pages are about beekeeping" in ended.out
    *suggested, last = ended.out.partition("Try next")[2].strip().splitlines()
    assert last.split()[1] == "serve"  # runs until it is stopped: tests/serve
    assert [re.search("status|search|explain|export", one)[0] for one in suggested] == [
        "status",
        "search",
        "explain",
        "export",
    ]
    status = await run_beside("status", folder)
    assert "the page budget is used up" in status.out
    for command in suggested:
        process = await asyncio.create_subprocess_shell(
            command,
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate()
        assert process.returncode == 0, (command, out)
        assert b"queen" in out or b"relevant" in out or b"written" in out, command
    assert (tmp_path / "bees.csv").stat().st_size


def test_the_command_is_called_by_what_the_shell_finds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "bin" / "opilio"
    there.parent.mkdir()
    there.touch(0o755)
    monkeypatch.setenv("PATH", str(OPILIO.parent))
    assert demo.command_name("bin/opilio") == "bin/opilio"
    assert demo.command_name(str(there)) == "bin/opilio"
    assert demo.command_name(str(OPILIO)) == "opilio"
    monkeypatch.setenv("PATH", str(there.parent))
    assert demo.command_name("bin/opilio") == "opilio"
    assert demo.command_name(str(OPILIO)) == str(OPILIO)
