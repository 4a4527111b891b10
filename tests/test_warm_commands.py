"""The process that commands are forked from outlives those who ask and are killed."""

import asyncio
import json
import os
import socket
from pathlib import Path

import pytest

import warm_commands
from crawling import opilio


@pytest.mark.parametrize("sent", [True, False])
async def test_who_asks_may_be_gone_before_the_answer(sent: bool, tmp_path: Path):
    assert (await opilio("--version")).code == 0  # it serves
    for _ in range(20):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
            asking.connect("\0" + warm_commands.address())
            if sent:
                files = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
                asked = [["opilio", "--version"], str(tmp_path), dict(os.environ)]
                socket.send_fds(asking, [json.dumps(asked).encode()], files)
                for file in files:
                    os.close(file)
    await asyncio.sleep(0.1)
    assert (await opilio("--version")).code == 0
