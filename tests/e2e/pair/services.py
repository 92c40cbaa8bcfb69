"""Two services of one database, each in a process of its own, and their owner, who waits while one is away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import closing, contextmanager, suppress
from itertools import count
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from typing import TYPE_CHECKING, Any, Final, Self

import httpx
import psycopg

from tests.databases import async_url
from tests.e2e.person import Person
from tests.e2e.stopped import GATE
from tests.forked import Forked

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path
    from types import TracebackType

NAMES: Final = ("first", "second")
END_SECONDS: Final = 30
AWAY: Final = 503
MOMENT: Final = threading.Event()


class AwayError(httpx.TransportError):
    """A service can't serve for now, or has ended: the same may be asked again, of either."""


class Pair:
    """Both services. `ahead` is how many seconds the clock of each is ahead of the machine's.

    Each keeps its address for ever, as behind a supervisor: clients find it there again. Contents are in a folder, or
    in the bucket of the URL `blobs`. `front` is the address of a proxy before them, if there is one.
    """

    def __init__(self, folder: Path, url: str, ahead: Sequence[float] = (0, 0), blobs: str = "") -> None:
        self.folder = folder
        self._blobs = blobs or (folder / "blobs").as_uri()
        self.database = url
        self._ahead = ahead
        self._processes: list[Forked] = []
        self._places = [_reserved() for _ in NAMES]
        self._urls = [f"http://127.0.0.1:{place.getsockname()[1]}" for place in self._places]
        self._there = [0, 0]
        self._turns = count()
        self.front = ""
        self._token = ""

    def __enter__(self) -> Self:
        for number, name in enumerate(NAMES):
            (self.folder / name).mkdir(0o700, exist_ok=True)
            if self._token:
                (self.folder / name / "token").write_text(self._token)
            self._processes.append(self._begin(number))
            self._wait_for(number)
            self._token = (self.folder / name / "token").read_text().strip()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in range(len(self._processes)):
            self.kill(number)
        for place in self._places:
            place.close()

    def _begin(self, number: int) -> Forked:
        return Forked("tests.e2e.pair.program", [self._options(number)], os.environ)

    def _options(self, number: int) -> str:
        places = {"folder": str(self.folder), "database": async_url(self.database), "blobs": self._blobs}
        places["log"] = str(self._log_file(number))
        port = self._places[number].getsockname()[1]
        return json.dumps({**places, "name": NAMES[number], "ahead": self._ahead[number], "port": port})

    def _wait_for(self, number: int) -> None:
        process = self._processes[number]
        assert process.stdout.readline(), self.log(number)
        self._there[number] = process.pid

    def log(self, number: int) -> str:
        """Return all that one has written to its standard error, since its first start."""
        return self._log_file(number).read_text()

    def _log_file(self, number: int) -> Path:
        return self.folder / f"{NAMES[number]}.log"

    @property
    def urls(self) -> list[str]:
        """The addresses of both."""
        return [*self._urls]

    @property
    def pids(self) -> list[int]:
        """The ids of both processes."""
        return [process.pid for process in self._processes]

    @property
    def lives(self) -> list[int]:
        """The ids of both processes, 0 for one that has ended or does not answer yet."""
        return [*self._there]

    def start(self, number: int) -> None:
        """Start one again, after its end."""
        self._processes[number] = self._begin(number)
        self._wait_for(number)

    def send(self, number: int, what: signal.Signals) -> None:
        """Send one a signal."""
        self._processes[number].send_signal(what)

    def kill(self, number: int) -> None:
        """Kill -9 one, unless it has ended."""
        process = self._processes[number]
        self._there[number] = 0
        with suppress(ProcessLookupError):
            process.kill()
        with process:
            process.wait(END_SECONDS)

    def kill_at(self, number: int, place: int, seconds: float) -> None:
        """Have one kill itself at a place, or kill it after some seconds."""
        process = self._processes[number]
        process.stdin.write(b"%d\n" % place)
        process.stdin.flush()
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        self.kill(number)

    def stop(self, number: int) -> None:
        """Tell one to end, and wait until it has."""
        self._there[number] = 0
        self.send(number, signal.SIGTERM)
        with self._processes[number] as process:
            process.stdin.close()
            assert process.wait(END_SECONDS) == 0, self.log(number)

    @contextmanager
    def person(self, number: int | None = None) -> Generator[Person]:
        """Yield the owner at one of them, by turns if none is named. Raises `AwayError` for 503."""
        url = self._urls[next(self._turns) % 2 if number is None else number]
        if number is None and self.front:
            url = self.front
        with closing(Person(url, self._token, "me@localhost")) as person:
            person.http.event_hooks = {"response": [_refuse_away]}
            yield person

    def query(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement past the services. Raises `AwayError` if the database is away."""
        try:
            with psycopg.connect(self.database) as connection:
                done = connection.execute(statement.encode(), values or None)
                return done.fetchall() if done.description else []
        except psycopg.OperationalError as error:
            raise AwayError(str(error)) from error

    def open_gate(self) -> None:
        """Let the model answer what waits for it."""
        (self.folder / GATE).touch()

    def close_gate(self) -> None:
        """Have the model hold what says so again."""
        (self.folder / GATE).unlink()


def write_log(file: str) -> None:
    """Have this process write its standard error to the end of a file: a pipe that nobody reads holds it up."""
    os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), sys.stderr.fileno())


def _reserved() -> socket:
    """Return a socket that keeps a port of this machine for who listens there; until then connections are refused."""
    place = socket()
    place.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    place.bind(("127.0.0.1", 0))
    return place


def _refuse_away(response: httpx.Response) -> None:
    if response.status_code == AWAY:
        response.read()
        raise AwayError(response.text)


def pause(seconds: float) -> None:
    """Let some time go by."""
    MOMENT.wait(seconds)
