"""The record of the service that works on a data directory: its address, valid while its process holds a lock file.

The lock (`service.lock`) ends with its process however that ends, so the record of a killed service is ignored.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from drive_server.kernel.files.file_locks import try_lock

LOCK_NAME: Final = "service.lock"
RECORD_NAME: Final = "service.json"


@dataclass(frozen=True, slots=True)
class ServiceRecord:
    """The address of a running service: `url`, over the Unix socket `socket` if that is not empty.

    `certificate` is that of a service over HTTPS (PEM): the process that has it at this address is the service.
    """

    url: str
    pid: int
    socket: str = ""
    certificate: str = ""


def is_held(root: Path) -> bool:
    """Return whether a process works on the data directory now."""
    try:
        lock = (root / LOCK_NAME).open("r", encoding="utf-8")
    except FileNotFoundError:
        return False
    with lock:
        return not try_lock(lock, shared=True)


def read_record(root: Path) -> ServiceRecord | None:
    """Return the record of the process that holds the lock; None without one."""
    try:
        body: Any = json.loads((root / RECORD_NAME).read_text(encoding="utf-8"))
        record = ServiceRecord(
            str(body["url"]), int(body["pid"]), str(body.get("socket", "")), str(body.get("certificate", ""))
        )
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return None
    return record if is_held(root) else None


def running_address(root: Path) -> str:
    """Return the address at which a service answers for this data directory; empty if none does for others."""
    record = read_record(root)
    return record.url if record and not record.socket else ""
