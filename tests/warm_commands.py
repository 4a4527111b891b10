"""Starts `opilio` and reader processes as forks of one that has imported them already.

Importing takes most of the time of a short command. What is started is a process like
any other: it has signals, files, locks and an exit code of its own, and may be killed.
Tests of how processes start use the real command (`OPILIO`) and `start_process`.

    test or command ── a connection: arguments, folder, environment, files ──> forks
                    <── the id of the process, in the end its exit code ──
"""

import asyncio
import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn

OPILIO = Path(sys.executable).with_name("opilio")
READER = "reader"
LONGEST = 2**17  # bytes of a request
STARTING = threading.Lock()
ADDRESS = "OPILIO_TESTS_WARM"  # the environment variable with the address to connect to


class WarmProcess:
    """A command that runs; as much of `asyncio.subprocess.Process` as tests use."""

    def __init__(
        self, pid: int, told: socket.socket, *outputs: asyncio.StreamReader | None
    ) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout, self.stderr = outputs
        self._end = asyncio.create_task(self._wait(told))

    async def _wait(self, told: socket.socket) -> int:
        told.setblocking(False)
        with told:
            code = await asyncio.get_running_loop().sock_recv(told, LONGEST)
        self.returncode = int(code)
        return self.returncode

    async def wait(self) -> int:
        """Its exit code; minus the number of the signal that killed it."""
        return await asyncio.shield(self._end)

    async def communicate(self) -> tuple[bytes, bytes]:
        """Everything that it writes, once it has ended."""
        reads = [
            stream.read() if stream else asyncio.sleep(0, b"")
            for stream in (self.stdout, self.stderr)
        ]
        out, err, _ = await asyncio.gather(*reads, self.wait())
        return out, err

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


async def start_warm(
    *arguments: object,
    stdout: int | None = None,
    stderr: int | None = None,
    env: dict[str, str] | None = None,
) -> WarmProcess:
    """Start `opilio` here, with our environment or another one; `stdout` and `stderr`
    are files, `asyncio.subprocess.DEVNULL` or `PIPE`, or None: our own."""
    out, ours_out = await output(1, stdout)
    err, ours_err = await output(2, stderr)
    files = [os.open(os.devnull, os.O_RDONLY), out, err]
    pid, told = await asyncio.to_thread(
        request, [str(OPILIO), *map(str, arguments)], files, env
    )
    for file in files:
        os.close(file)
    return WarmProcess(pid, told, ours_out, ours_err)


async def output(
    number: int, target: int | None
) -> tuple[int, asyncio.StreamReader | None]:
    """Where a command writes to, and where we read it."""
    if target is None:
        return os.dup(number), None
    if target == asyncio.subprocess.DEVNULL:
        return os.open(os.devnull, os.O_WRONLY), None
    if target != asyncio.subprocess.PIPE:
        return os.dup(target), None
    mine, theirs = os.pipe()
    stream = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(mine, "rb", 0)
    )
    return theirs, stream


class WarmReader:
    """A reader process; as much of `subprocess.Popen` as `opilio.read.pool` uses."""

    def __init__(self, pid: int, told: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._told = told

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._told.settimeout(timeout)
            try:
                self.returncode = int(self._told.recv(LONGEST))
            except TimeoutError as error:
                raise subprocess.TimeoutExpired(READER, timeout or 0) from error
            self._told.close()
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def start_reader() -> tuple[WarmReader, socket.socket]:
    """In the place of `opilio.read.pool.start_process`."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
    ours.setblocking(False)
    with theirs, Path(os.devnull).open("wb") as nothing:
        files = [theirs.fileno(), nothing.fileno(), 2]
        return WarmReader(*request([READER], files)), ours


def request(
    arguments: list[str], files: list[int], env: dict[str, str] | None = None
) -> tuple[int, socket.socket]:
    """Ask for a process with these standard files; its id, and what tells its end."""
    told = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    told.connect("\0" + address())
    asked = [arguments, str(Path.cwd()), dict(os.environ if env is None else env)]
    socket.send_fds(told, [json.dumps(asked).encode()], files)
    return int(told.recv(LONGEST)), told


def address() -> str:
    """Where to ask for processes; what answers there is started on first use."""
    with STARTING:
        return os.environ.get(ADDRESS) or start_server()


@cache
def start_server() -> str:
    """Start the process that forks; it ends with this one."""
    name = f"opilio-tests-{os.getpid()}"
    alive, ours = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind("\0" + name)
        listener.listen(64)
        # Threads of a library would be missing in the forks.
        single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, __file__, str(alive), name],
            stdin=listener,
            env=os.environ | single,
            pass_fds=[alive],
        )
    os.close(alive)

    def end() -> None:
        os.close(ours)
        process.wait()

    atexit.register(end)
    return name


def import_everything() -> None:
    """Import what commands and readers import while they run."""
    from opilio.cli import COMMANDS

    names = ("assembly.build", "judge.opilio", "read.html", "read.worker")
    others = ("search.index", "strategies.opilio", "subject.page_reader")
    for name in (*names, *others):
        import_module(f"opilio.{name}")
    for place in COMMANDS.values():
        import_module(place.module)


def load_tables() -> None:
    """Load the word vectors, suffixes and language models that most crawls need."""
    from opilio.records import Reads, Response
    from opilio.subject.compile import compile_topic, setup_for
    from opilio.subject.page_reader import make_reader
    from opilio.text import urls
    from opilio.topic import Topic
    from opilio.vectors.files import AUTO

    urls.domain("http://www.example.org/")
    subject = compile_topic(Topic(name="bees", keywords=("bee",)), vectors=AUTO)
    setup = setup_for(
        subject, Reads(context=True, vector=True, vectors=True, sequence=True)
    )
    text = b"<title>Bees</title><p>The bee makes honey in its hive. <a href=/b>More</a>"
    make_reader(setup).read(Response("http://www.example.org/", 200, (), text, 0.0))


def serve(alive: int) -> list[str]:
    """Fork for each request, while the tests live; in the forks, returns the arguments
    of the process that they are to be."""
    requests = socket.socket(fileno=os.dup(0))
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    running: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([requests, woken, alive], [], [])
        if woken in ready:
            woken.recv(LONGEST)
            tell_ends(running)
        if requests in ready:
            told, _ = requests.accept()
            asked, files = b"", []
            with suppress(OSError):
                asked, files, _, _ = socket.recv_fds(told, LONGEST, 3)
            if not asked:  # whoever asks was killed meanwhile
                told.close()
                continue
            pid = os.fork()
            if not pid:
                for one in (requests, woken, wake, told, *running.values()):
                    one.close()
                os.close(alive)
                return become(asked, files)
            for file in files:
                os.close(file)
            running[pid] = told
            with suppress(OSError):  # killed, too; its reader ends by itself
                told.send(str(pid).encode())
        elif alive in ready:
            sys.exit()


def tell_ends(running: dict[int, socket.socket]) -> None:
    """Tell the exit codes of the processes that have ended."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            code = os.waitstatus_to_exitcode(ended[1])
            with running.pop(ended[0]) as told, suppress(OSError):  # nobody listens
                told.send(str(code).encode())


def become(asked: bytes, files: list[int]) -> list[str]:
    """Take the files, folder and environment that were asked for."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    kind = sys.stdout.encoding
    sys.stdout = os.fdopen(1, "w", encoding=kind, closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, kind, "backslashreplace", closefd=False)
    arguments, folder, environment = json.loads(asked)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # Packages of the test come first, as they do where Python starts.
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [path for path in paths if path and path not in sys.path]
    return list(arguments)


def run(arguments: list[str], name: str) -> NoReturn:
    """Be the process; finally leave without tidying up what was imported."""
    from opilio.cli import main
    from opilio.read import pool, worker

    code: object = 1
    try:
        if arguments == [READER]:
            os.setpgid(0, 0)
            code = worker.main()
        else:
            os.environ[ADDRESS] = name
            pool.start_process = start_reader
            sys.argv = arguments
            code = main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of the tests
    import_everything()
    load_tables()
    gc.freeze()
    run(serve(int(sys.argv[1])), sys.argv[2])
