"""Two services of one database whose programs are of different versions, each from its own tree of this repository.

They are the program as people start it, `drive-agent serve`; only their model is made up, an OpenAI-compatible server.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Self

import pytest

from api.storage.database import SCHEMA as SERVICE
from drive_server.storage.tables.drive_schema import SCHEMA as DRIVE
from tests.api.command_model import COMMAND
from tests.api.real_service import SECRETS_KEY
from tests.databases import async_url
from tests.e2e.pair.services import AWAY, NAMES, Pair, write_log
from tests.e2e.stopped import APPROVAL_SECONDS, GATE, WAIT
from tests.fakes.openai_server import Stream, calls, split_call, text
from tests.forked import REPOSITORY, Forked

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    import httpx

    from tests.e2e.person import Person

BEFORE_RELEASES: Final = "fd61323f5c43dece3545b5cab984e6a0a8d987e5"
"""Until a release has a tag: the first commit whose services stay ready beside a newer one."""
PACKAGES: Final = ("api", "drive_server", "graph")
PROGRAM: Final = "import sys; from api.cli import main; sys.exit(main())"
EMAIL: Final = "me@example.com"
ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d+")
FOREIGN: Final = ("AGENT_", "DRIVE_", "OPENAI_", "PYTHON")
COMMAND_SECONDS: Final = 120


def earlier_version(folder: Path) -> Path:
    """Unpack the program of the last release into a folder. Skips the test where the history lacks it."""
    tagged = _git("describe", "--tags", "--abbrev=0", "--match=v*", "HEAD^")
    commit = tagged.stdout.decode().strip() or BEFORE_RELEASES
    archive = _git("archive", commit, *PACKAGES)
    if archive.returncode:
        pytest.skip(f"no program of {commit}: {archive.stderr.decode()}")
    folder.mkdir()
    subprocess.run(["tar", "--extract", "--directory", folder], input=archive.stdout, check=True)
    return folder


def _git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", REPOSITORY, *arguments], check=False, capture_output=True)


class Brain:
    """Calls the tool that a person's message names, then tells the results; silent for `WAIT` till the gate is open."""

    def __init__(self, folder: Path) -> None:
        self._gate = folder / GATE

    def __call__(self, request: dict[str, Any]) -> Stream:
        """Answer a request."""
        offered = [tool["function"]["name"] for tool in request.get("tools", [])]
        if "RouteDecision" in offered:
            route = {"agent": "drive_agent", "needs_plan": False, "confidence": 0.9, "reason": "So it is."}
            return split_call("RouteDecision", json.dumps(route))
        last = request["messages"][-1]
        if last["role"] == "tool":
            return text(f"Done: {last['content'][:200]}")
        wanted = calls(*((name, json.loads(args)) for name, args in COMMAND.findall(last["content"])))
        return replace(wanted, gate=self._gate) if WAIT in last["content"] else wanted


class Versions(Pair):
    """Both services, at first of the earlier version. `bucket` is the URL of the one for contents and the index."""

    def __init__(self, folder: Path, url: str, bucket: str, model_url: str, earlier: Path) -> None:
        super().__init__(folder, url)
        self._bucket, self._model_url = bucket, model_url
        self._trees = [str(earlier), str(earlier)]

    def __enter__(self) -> Self:
        command = [sys.executable, "-c", PROGRAM, "admin", "create", EMAIL]
        environment = self._environment(0)
        made = subprocess.run(
            command, env=environment, cwd=self.folder, capture_output=True, timeout=COMMAND_SECONDS, check=False
        )
        assert made.returncode == 0, made.stderr.decode()
        self._token = made.stdout.decode().strip()
        return super().__enter__()

    def become_new(self, number: int) -> None:
        """Start the version of this tree in place of one that has ended."""
        self._trees[number] = REPOSITORY
        self.start(number)

    def schemas(self) -> list[str]:
        """Return the versions of the drive's and of the service's tables."""
        tables = (DRIVE.version_table, SERVICE.version_table)
        return [self.query(f"SELECT version_num FROM {table}")[0][0] for table in tables]  # noqa: S608 - constants

    @contextmanager
    def person(self, number: int | None = None) -> Generator[Person]:
        """Yield the owner, to whom each 5xx says when to come again. Raises `AwayError` for it."""
        with super().person(number) as person:
            person.http.event_hooks["response"].insert(0, _require_advice)
            yield person

    def _begin(self, number: int) -> Forked:
        arguments = [str(self.folder), str(self._log_file(number))]
        return Forked("tests.e2e.pair.versions", arguments, self._environment(number))

    def _wait_for(self, number: int) -> None:
        self._urls[number] = self._address(number)
        self._there[number] = self._processes[number].pid

    def _address(self, number: int) -> str:
        for line in self._processes[number].stdout:
            if found := ADDRESS.search(line.decode()):
                return found[0]
        raise AssertionError(self.log(number))

    def _environment(self, number: int) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
        return {
            **inherited,
            "PYTHONPATH": self._trees[number],
            "HOME": str(self.folder),
            "DRIVE_DATA_DIR": str(self.folder / NAMES[number]),
            "DRIVE_DATABASE_URL": async_url(self.database),
            "DRIVE_BLOB_URL": f"{self._bucket}/contents",
            "DRIVE_INDEX_URL": f"{self._bucket}/index",
            "DRIVE_EMBEDDING_MODEL": "none",
            "AGENT_THREADS_URL": self.database,
            "AGENT_SECRETS_KEY": SECRETS_KEY,
            "AGENT_APPROVAL_TTL_SECONDS": str(APPROVAL_SECONDS),
            "AGENT_MODEL_STALL_SECONDS": str(APPROVAL_SECONDS),
            "AGENT_MODEL": "made-up",
            "AGENT_ROUTER_MODEL": "made-up",
            "OPENAI_API_KEY": "made-up",
            "OPENAI_BASE_URL": self._model_url,
        }


def _require_advice(response: httpx.Response) -> None:
    if response.is_server_error:
        response.read()
        assert (response.status_code, "retry-after" in response.headers) == (AWAY, True), response.text


def main(arguments: list[str]) -> None:
    """Become the program of the tree that PYTHONPATH names, in a folder, with its log in a file."""
    folder, log = arguments
    os.chdir(folder)
    write_log(log)
    command = [sys.executable, "-c", PROGRAM, "serve", "--port", "0"]
    os.execve(sys.executable, command, os.environ)  # noqa: S606 - no shell
