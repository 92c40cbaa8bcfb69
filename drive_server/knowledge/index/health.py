"""The health of the index. A process that fails to read it asks its writer to look; all processes see the state.

Two small files beside the index's lock carry it between processes of one machine: a request, which any of them makes,
and the state, which only the writer changes. Between services on several machines `ingest/shared_health.py` carries it.
"""

import json
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal

from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import StorageFailureError
from drive_server.models.search import IndexHealthState

logger = logging.getLogger(__name__)

Request = Literal["", "inspect", "rebuild"]

WINDOW: Final = timedelta(hours=1)
MAX_REBUILDS: Final = 3
"""In one window: an index that is damaged again and again tells of a failing disk, not of a bad day."""
MAX_UNEXPLAINED: Final = 2
"""Searches in one window that fail although an inspection finds nothing: after these it counts as damaged."""


class DamagedIndexError(StorageFailureError):
    """The index can't be read as it is; it is derived from the files, so it can be built anew."""


@dataclass(slots=True)
class HealthRecord:
    """The state, and when the index was built anew lately (Unix seconds)."""

    state: IndexHealthState = "ok"
    rebuilds: list[float] = field(default_factory=list[float])


@dataclass(frozen=True, slots=True)
class HealthNews:
    """The news of one process: a request, the request that it took as the writer, and the state that it set as such."""

    request: Request = ""
    taken: Request = ""
    record: HealthRecord | None = None

    def merged(self, stored: HealthRecord, request: Request, *, is_writer: bool) -> tuple[HealthRecord, Request]:
        """Return the stored state and request with these news.

        A request that the writer took is no more, unless a stronger one came meanwhile.
        """
        if not is_writer:
            return stored, stronger(request, self.request)
        left = "" if request == self.taken else request
        return self.record or stored, stronger(left, self.request)


class IndexHealth:
    """The state of one index and the requests about it. Without a `path`, of this process alone, but for its news.

    `on_request` is called when this process makes a request.
    """

    def __init__(self, path: Path | None = None, clock: Clock = utc_now) -> None:
        self.on_request: Callable[[], None] = lambda: None
        self._path = path
        self._clock = clock
        self._record = HealthRecord()
        self._changed_at: int | None = None
        self._request: Request = ""
        self._news = HealthNews()
        self._unexplained: list[float] = []

    @property
    def state(self) -> IndexHealthState:
        """The state, as its writer stored it last; `rebuilding` also while a rebuild that was asked for waits."""
        self._load()
        return "rebuilding" if self.requested == "rebuild" else self._record.state

    @property
    def is_resting(self) -> bool:
        """True if the index is left alone, as building it anew failed too often."""
        return self.state == "degraded" and not self.may_rebuild()

    @property
    def is_incomplete(self) -> bool:
        """True if searches may miss texts of files, beyond files that are known to wait."""
        return self.state != "ok" or bool(self.requested)

    @property
    def requested(self) -> Request:
        """The request that waits, made by any process."""
        if self._path is None:
            return self._request
        with suppress(OSError):
            return _of(self._request_path.read_text(encoding="ascii"))
        return ""

    def request(self, wanted: Request) -> None:
        """Ask the writer to inspect the index, or to drop it unread and build it anew."""
        if self.requested not in ("rebuild", wanted):
            self._add(wanted)
        self.on_request()

    def take_request(self) -> Request:
        """Return the request that waits, and forget it. Only the writer calls this."""
        if self._path is None:
            wanted, self._request = self._request, ""
            self._news = replace(self._news, request="", taken=stronger(self._news.taken, wanted))
            return wanted
        # Moved before it is read: a request that another process makes meanwhile is a new one, and stays.
        taken = self._path.with_suffix(".taken")
        with _logging_errors("A request for the search index could not be removed."), suppress(FileNotFoundError):
            self._request_path.replace(taken)
            wanted = _of(taken.read_text(encoding="ascii"))
            taken.unlink()
            return wanted
        return self.requested

    @property
    def has_news(self) -> bool:
        """True if `take_news` has something to tell."""
        return self._news != HealthNews()

    def take_news(self) -> HealthNews:
        """Return this process's news since the last call; only without a `path`."""
        news, self._news = self._news, HealthNews()
        return news

    def put_back(self, news: HealthNews) -> None:
        """Take back news that could not be told."""
        later = self._news
        self._news = HealthNews(
            stronger(news.request, later.request), stronger(news.taken, later.taken), later.record or news.record
        )

    def accept(self, record: HealthRecord, request: Request) -> None:
        """Take over the common record of all processes; this one's later news stay."""
        self._record = self._news.record or record
        self._request = stronger(request, self._news.request)

    def note_failure(self) -> None:
        """Note a search that failed twice in a row, and have the index inspected."""
        self._unexplained = [*self._recent(self._unexplained), self._clock().timestamp()]
        self.request("inspect")

    def is_beyond_doubt(self) -> bool:
        """Return whether searches failed too often for an inspection that finds nothing to be believed."""
        return len(self._recent(self._unexplained)) > MAX_UNEXPLAINED

    def may_rebuild(self) -> bool:
        """Return whether another rebuild is allowed now."""
        self._load()
        return len(self._recent(self._record.rebuilds)) < MAX_REBUILDS

    def begin_rebuild(self, *, by_request: bool) -> None:
        """Note that the index is being built anew. One that a person asks for begins a new count."""
        self._unexplained.clear()
        earlier = [] if by_request else self._recent(self._record.rebuilds)
        self._save(HealthRecord("rebuilding", [*earlier, self._clock().timestamp()]))

    def settle(self) -> None:
        """Note that the index is whole."""
        if self.state != "ok":
            self._save(HealthRecord("ok", self._recent(self._record.rebuilds)))

    def give_up(self) -> None:
        """Note that the index stays as it is until a person asks for a rebuild, or the window is over."""
        if self.state != "degraded":
            logger.error("The search index is damaged again; searches find names only. Check the disk.")
            self._save(HealthRecord("degraded", self._recent(self._record.rebuilds)))

    def _add(self, wanted: Request) -> None:
        if self._path is None:
            self._request = stronger(self._request, wanted)
            self._news = replace(self._news, request=self._request)
            return
        failed = "A request for the search index could not be stored; the next failure makes another."
        # Added to another process's request of just now, never written over it.
        with _logging_errors(failed), self._request_path.open("a", encoding="ascii") as file:
            file.write(f"{wanted}\n")

    @property
    def _request_path(self) -> Path:
        assert self._path is not None  # noqa: S101 - callers look
        return self._path.with_suffix(".request")

    def _recent(self, moments: list[float]) -> list[float]:
        since = self._clock().timestamp() - WINDOW.total_seconds()
        return [moment for moment in moments if moment > since]

    def _save(self, record: HealthRecord) -> None:
        self._record = record
        if self._path is None:
            self._news = replace(self._news, record=record)
            return
        with _logging_errors("The state of the search index could not be stored."):
            draft = self._path.with_suffix(".draft")
            draft.write_text(json.dumps({"state": record.state, "rebuilds": record.rebuilds}), encoding="ascii")
            draft.replace(self._path)
            self._changed_at = self._path.stat().st_mtime_ns

    def _load(self) -> None:
        """Read the stored state if another process changed it. One that can't be read counts as sound: it is a hint."""
        if self._path is None:
            return
        try:
            changed_at = self._path.stat().st_mtime_ns
            if changed_at != self._changed_at:
                self._changed_at = changed_at
                self._record = _read(json.loads(self._path.read_text(encoding="ascii")))
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError):
            logger.warning("The stored state of the search index can't be read; it counts as sound.")
            self._record = HealthRecord()


def stronger(one: Request, other: Request) -> Request:
    """Return the request that covers both."""
    return "rebuild" if "rebuild" in (one, other) else one or other


def _of(requests: str) -> Request:
    """Return the strongest of the requests in a file."""
    return "rebuild" if "rebuild" in requests else "inspect"


def _read(stored: Any) -> HealthRecord:
    states: dict[str, IndexHealthState] = {"ok": "ok", "rebuilding": "rebuilding", "degraded": "degraded"}
    return HealthRecord(states[stored["state"]], [float(moment) for moment in stored["rebuilds"]])


@contextmanager
def _logging_errors(sentence: str) -> Generator[None]:
    try:
        yield
    except OSError:
        logger.warning("%s", sentence, exc_info=True)
