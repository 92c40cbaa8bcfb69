"""Locks between processes, each on a whole open file; the system releases them when the process ends, however it ends.

POSIX and Windows have different calls for them, so that portalocker makes them.
"""

import portalocker
from portalocker.types import FileArgument


def try_lock(file: FileArgument, *, shared: bool = False) -> bool:
    """Lock an open file or descriptor if nobody holds it otherwise; return whether it is locked. Raises `OSError`."""
    try:
        _lock(file, _kind(shared=shared) | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.AlreadyLocked:
        return False
    return True


def wait_for_lock(file: FileArgument, *, shared: bool = False) -> None:
    """Lock an open file or descriptor as soon as nobody holds it otherwise. Raises `OSError`."""
    while True:
        try:
            _lock(file, _kind(shared=shared))
        except portalocker.AlreadyLocked:  # Windows waits for ten seconds only
            continue
        return


def _kind(*, shared: bool) -> portalocker.LockFlags:
    return portalocker.LockFlags.SHARED if shared else portalocker.LockFlags.EXCLUSIVE


def _lock(file: FileArgument, flags: portalocker.LockFlags) -> None:
    try:
        portalocker.lock(file, flags)
    except portalocker.AlreadyLocked:
        raise
    except portalocker.LockException as error:
        cause = error.__cause__
        raise cause if isinstance(cause, OSError) else OSError(str(error)) from error
