"""Commands calculate on one thread, unless the user asks for more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# How many threads the process has once numpy has multiplied two matrices.
COUNT = """
import os, sys
sys.argv = ["opilio", "--version"]
from opilio.cli import main
try:
    main()
except SystemExit:
    pass
import numpy
numpy.ones((500, 500)) @ numpy.ones((500, 500))
print(len(os.listdir("/proc/self/task")))
"""


def threads(**chosen: str) -> int:
    environment = {k: v for k, v in os.environ.items() if "_NUM_THREADS" not in k}
    command = [sys.executable, "-c", COUNT]
    printed = subprocess.check_output(command, env=environment | chosen, text=True)
    return int(printed.split()[-1])


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux")
def test_a_command_calculates_on_one_thread_unless_told():
    assert threads() == 1
    if (os.cpu_count() or 1) > 1:
        assert threads(OPENBLAS_NUM_THREADS="2") == 2
