"""The other kind of locks: on a range of bytes of an open file, as Windows has them, in place of whole files.

Linux has both (`flock`, and `fcntl` with F_OFD_SETLK), and they don't see each other: all processes of a test have to
use the same kind. `USE` is the beginning of a program that does.
"""

from __future__ import annotations

import fcntl
import os
import struct
from typing import TYPE_CHECKING, Final

import portalocker
import portalocker.portalocker
from portalocker.portalocker import BaseLocker

if TYPE_CHECKING:
    from portalocker.types import FileArgument

KINDS: Final = ("files", "ranges")
VARIABLE: Final = "TEST_FILE_LOCKS"
USE: Final = "import tests.fakes.file_locks as _locks; _locks.use_named()\n"
_FLOCK: Final = struct.Struct("hhqqi4x")


class RangeLocker(BaseLocker):
    """Locks the first bytes of a file."""

    def lock(self, file_obj: FileArgument, flags: portalocker.LockFlags) -> None:
        """Lock them, or raise `AlreadyLocked`."""
        kind = fcntl.F_RDLCK if flags & portalocker.LockFlags.SHARED else fcntl.F_WRLCK
        waits = not flags & portalocker.LockFlags.NON_BLOCKING
        try:
            _call(file_obj, fcntl.F_OFD_SETLKW if waits else fcntl.F_OFD_SETLK, kind)
        except BlockingIOError as error:
            raise portalocker.AlreadyLocked(str(error)) from error
        except OSError as error:
            raise portalocker.LockException(str(error)) from error

    def unlock(self, file_obj: FileArgument) -> None:
        """Release them."""
        _call(file_obj, fcntl.F_OFD_SETLK, fcntl.F_UNLCK)


def use_named() -> None:
    """Use the kind of locks that the environment names."""
    if os.environ.get(VARIABLE) == "ranges":
        portalocker.portalocker.LOCKER = RangeLocker


def _call(file: FileArgument, command: int, kind: int) -> None:
    descriptor = file if isinstance(file, int) else file.fileno()
    fcntl.fcntl(descriptor, command, _FLOCK.pack(kind, os.SEEK_SET, 0, 0x10000, 0))
