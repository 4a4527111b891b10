"""A PostgreSQL server of one's own, on a socket in a temporary folder."""

import os
import shutil
import signal
import subprocess
import time
from contextlib import closing
from itertools import count
from pathlib import Path

import psycopg

PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
BINARIES = next((str(place) for place in PLACES), shutil.which("postgres") or "")
USER = "postgres" if os.getuid() == 0 else None  # the server refuses to run as root
SETTINGS = (
    "listen_addresses=",
    "fsync=on",
    "max_connections=100",
    "shared_buffers=32MB",
    "restart_after_crash=on",
)


class PostgresServer:
    """Starts, kills and starts again; every database is new."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.process: subprocess.Popen | None = None
        self._numbers = count(1)
        self.settings: tuple[str, ...] = ()  # besides the usual ones
        folder.mkdir(mode=0o755)
        if USER:
            shutil.chown(folder, USER)
        self._run("initdb", "-D", self.data, "-U", "opilio", "-A", "trust", "--no-sync")

    def _run(self, name: str, *arguments: object) -> None:
        command = [f"{BINARIES}/{name}", *map(str, arguments)]
        subprocess.run(
            command, check=True, user=USER, cwd="/", stdout=subprocess.DEVNULL
        )

    def start(self) -> None:
        settings = [
            part for setting in (*SETTINGS, *self.settings) for part in ("-c", setting)
        ]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [f"{BINARIES}/postgres", "-D", self.data, "-k", self.folder, *settings],
                stderr=log,
                user=USER,
                cwd="/",
            )
        for _ in range(200):
            try:
                self.connect("postgres").close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise TimeoutError((self.folder / "log").read_text()[-2000:])

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(30)

    def kill(self) -> None:
        """Kill the postmaster as `kill -9` does; its children notice and end."""
        self.process.kill()
        self.process.wait()

    def connect(self, name: str) -> psycopg.Connection:
        return psycopg.connect(self.dsn(name), autocommit=True)

    def dsn(self, name: str) -> str:
        port = [one.partition("=")[2] for one in self.settings if "port=" in one]
        more = f"&port={port[0]}" if port else ""
        return f"postgresql://opilio@/{name}?host={self.folder}{more}"

    def database(self) -> str:
        """The DSN of a new database."""
        name = f"crawl_{next(self._numbers)}"
        with closing(self.connect("postgres")) as db:
            db.execute(f"CREATE DATABASE {name}")
        return self.dsn(name)
