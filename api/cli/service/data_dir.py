"""The process that works on a data directory, and its address: a lock file and a record beside it.

Both are read by `drive_server.storage.installation.service_record`.
Two processes would run the assistant's runs twice, hence one holder at a time.

The holder may be a command that serves only while it lasts. Commands that use it hold a shared lock on a second file
(`service.peers`) from before they read its record until they are done, and it waits for them.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from dataclasses import asdict
from typing import IO, TYPE_CHECKING

from api.cli.failure import CommandError, system_reason
from drive_server.kernel.files.file_locks import try_lock, wait_for_lock
from drive_server.storage.installation.service_record import LOCK_NAME, RECORD_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from drive_server.storage.installation.service_record import ServiceRecord

PEERS_NAME = "service.peers"
PROBE_SECONDS = 0.5


class BusyError(CommandError):
    """Another process works on this data directory."""


@contextmanager
def hold(root: Path) -> Generator[None]:
    """Be the one process that works on the data directory. Raises `BusyError` if there is one already."""
    lock = _open(root, LOCK_NAME)
    try:
        _lock(lock)
        withdraw(root)
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield
    finally:
        lock.close()


def publish(root: Path, record: ServiceRecord) -> None:
    """Write the record of the service atomically. Only the holder of the lock calls this."""
    draft = root / f".{RECORD_NAME}.{os.getpid()}"
    body = asdict(record)
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(body), encoding="utf-8")
    draft.replace(root / RECORD_NAME)


def withdraw(root: Path) -> None:
    """Remove the record of the service."""
    (root / RECORD_NAME).unlink(missing_ok=True)


@contextmanager
def attached(root: Path) -> Generator[None]:
    """Keep a temporary service running: the holder of a record read inside the block waits for its end."""
    with _open(root, PEERS_NAME) as peers:
        wait_for_lock(peers, shared=True)
        yield


def wait_for_peers(root: Path, on_wait: Callable[[], None]) -> None:
    """Wait, after `withdraw`, until nobody is attached any more; `on_wait` is called first if somebody is."""
    with _open(root, PEERS_NAME) as peers:
        if not try_lock(peers):
            on_wait()
            wait_for_lock(peers)


def require_usable(root: Path) -> None:
    """Raise `CommandError` for a data directory that can't be made or written."""
    _open(root, PEERS_NAME).close()


def _open(root: Path, name: str) -> IO[str]:
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not any(root.iterdir()):
            root.chmod(0o700)
        return (root / name).open("a+", encoding="utf-8")
    except OSError as error:
        raise CommandError.of("data_dir", root=root, reason=system_reason(error)) from error


def _lock(lock: IO[str]) -> None:
    # `is_held` holds the lock for a moment in other processes, so a refusal counts only if it lasts.
    deadline = time.monotonic() + PROBE_SECONDS
    while not try_lock(lock):
        if time.monotonic() > deadline:
            raise BusyError.of("busy", holder=_holder(lock))
        time.sleep(0.02)


def _holder(lock: IO[str]) -> str:
    """Return the id of the process that has the lock; "?" where a locked file can't be read (Windows)."""
    try:
        lock.seek(0)
        return lock.read(32).strip() or "?"
    except OSError:
        return "?"
