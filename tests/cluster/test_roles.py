"""Workers need no more rights than docs/howto/postgres-roles.sql gives them, and
passwords and TLS come from the environment."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import trustme
from bench.postgres_server import BINARIES, USER, PostgresServer

from cluster.test_worker import BEES, SETTINGS, rows, worker
from crawling import end_of, opilio
from opilio.cluster.connection import open_postgres
from opilio.errors import OpilioError
from opilio.lab.synthetic.small import SmallWeb

ROLES = Path(__file__).parents[2] / "docs/howto/postgres-roles.sql"


@pytest.fixture
def by_role(postgres, dsn):
    """The DSN of a prepared database, for each role."""
    name = dsn.partition("@/")[2].partition("?")[0]
    with closing(postgres.connect(name)) as db:
        for role in ("crawl_owner", "crawl_worker", "crawl_reader"):
            db.execute(
                f"DO $$ BEGIN CREATE ROLE {role} LOGIN; "
                "EXCEPTION WHEN duplicate_object THEN NULL; END $$"
            )
        db.execute(f"GRANT CREATE ON DATABASE {name} TO crawl_owner")

    def of(role):
        return dsn.replace("opilio@", f"{role}@", 1)

    owner = of("crawl_owner")
    command = [sys.executable, "-m", "opilio.cluster.schema", owner]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "ready" in done.stdout, done.stderr
    with closing(psycopg.connect(owner, autocommit=True)) as db:
        db.execute(ROLES.read_text())
    return of


async def test_workers_and_readers_need_these_rights_and_no_more(crawled, by_role):
    life = await crawled(SmallWeb(BEES), settings_text=SETTINGS)
    dsn = by_role("crawl_worker")
    ended = await end_of(await worker(life, dsn))
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["ended"] == "exhausted"
    assert rows(dsn, "SELECT count(*) FROM page") == [(len(BEES),)]
    pulled = await opilio("pull", by_role("crawl_reader"), life.home / "copy", "--json")
    assert pulled.code == 0, pulled.err
    assert json.loads(pulled.out)["pages"] == len(BEES)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        rows(dsn, "CREATE TABLE opilio.mine (id int)")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        rows(by_role("crawl_reader"), "DELETE FROM page")


def test_password_and_certificate_come_from_the_environment(tmp_path, monkeypatch):
    if not BINARIES:
        pytest.skip("PostgreSQL is not installed")
    authority = trustme.CA()
    server, port = encrypted_server(authority)
    try:
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        dsn = f"postgresql://careful@localhost:{port}/postgres"
        monkeypatch.setenv("PGSSLMODE", "verify-full")
        monkeypatch.setenv("PGSSLROOTCERT", str(tmp_path / "ca.pem"))
        monkeypatch.setenv("PGPASSWORD", "wrong-secret")
        with pytest.raises(OpilioError) as refused:
            open_postgres(dsn)
        assert "secret" not in str(refused.value)
        monkeypatch.setenv("PGPASSWORD", "right-secret")
        with closing(open_postgres(dsn)) as db:
            [(encrypted,)] = db.execute(
                "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            ).fetchall()
            assert encrypted
        trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        with pytest.raises(OpilioError, match="certificate"):
            open_postgres(dsn)
    finally:
        server.stop()


def encrypted_server(authority):
    """A server that wants TLS and a password."""
    home = Path(tempfile.mkdtemp(prefix="pg-"))
    home.chmod(0o755)
    server = PostgresServer(home / "s")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    issued = authority.issue_cert("localhost", "127.0.0.1")
    key, chain = server.data / "server.key", server.data / "server.crt"
    issued.private_key_pem.write_to_path(str(key))
    issued.cert_chain_pems[0].write_to_path(str(chain))
    for path in (key, chain):
        path.chmod(0o600)
        if USER:
            os.chown(path, server.data.stat().st_uid, -1)
    with (server.data / "postgresql.conf").open("a") as file:
        file.write("ssl = on\n")
    hba = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"
    (server.data / "pg_hba.conf").write_text(hba)
    server.settings = ("listen_addresses=127.0.0.1", f"port={port}")
    server.start()
    with closing(psycopg.connect(server.dsn("postgres"))) as db:
        db.execute("CREATE ROLE careful LOGIN PASSWORD 'right-secret'")
        db.commit()
    return server, port
