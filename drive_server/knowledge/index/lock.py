"""A lock between processes: only its holder writes the index."""

import os
from pathlib import Path

from drive_server.storage.file_locks import try_lock


class WriterLock:
    """A reentrant lock on a file, which the system releases when the process ends, however it ends.

    Its methods take microseconds; don't call them in threads: a cancelled wait for one would lose the lock.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._holds = 0

    @property
    def is_held(self) -> bool:
        """True if the lock is ours."""
        return self._holds > 0

    def acquire(self) -> bool:
        """Take the lock if no other process or object holds it; return whether it is ours."""
        if self._descriptor is None:
            descriptor = self._open()
            if not try_lock(descriptor):
                os.close(descriptor)
                return False
            self._descriptor = descriptor
        self._holds += 1
        return True

    def _open(self) -> int:
        flags, mode = os.O_RDWR | os.O_CREAT, 0o600
        try:
            return os.open(self._path, flags, mode)
        except FileNotFoundError:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self._path, flags, mode)

    def release(self) -> None:
        """Release it once."""
        self._holds -= 1
        if self._holds == 0 and self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
