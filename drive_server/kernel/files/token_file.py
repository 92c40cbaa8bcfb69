"""The file with the local access token: only its owner may read it, and it is never half written."""

import logging
import os
import stat
from pathlib import Path
from secrets import token_hex

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.files.spool import sync
from drive_server.kernel.messages import Message

logger = logging.getLogger(__name__)

MAX_TOKEN_BYTES = 1024
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private_directory(path: Path) -> None:
    """Make the directory with mode 0700. Tighten an empty one to that; only warn about one in use.

    A directory in use may be one that other programs need (`/tmp`, a home directory), so its mode stays.
    Raises `StorageFailureError` if there can be no such directory.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.stat().st_mode & OTHERS:
            return
        if any(path.iterdir()):
            logger.warning("The directory is open to other users of this machine: %s (chmod 700 closes it).", path)
        else:
            path.chmod(0o700)
    except OSError as error:
        raise StorageFailureError(Message.of("no_data_directory")) from error


def read_token(path: Path) -> str | None:
    """Return the token, None if there is no file. Close a file that others could read, with a warning."""
    try:
        with path.open("rb") as file:
            _close_to_others(path, os.fstat(file.fileno()).st_mode)
            return file.read(MAX_TOKEN_BYTES).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failure("read") from error


def write_token(path: Path, token: str) -> None:
    """Put the token in place at once and durably, with mode 0600."""
    try:
        make_private_directory(path.parent)
        draft = path.with_name(f".{path.name}.{token_hex(8)}")
        try:
            _write_new(draft, f"{token}\n".encode("ascii"))
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        sync(path.parent)
    except OSError as error:
        raise _failure("written") from error


def _close_to_others(path: Path, mode: int) -> None:
    if mode & OTHERS:
        logger.warning("The access token was readable by other users of this machine; closed it now: %s", path)
        path.chmod(0o600)


def _write_new(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _failure(verb: str) -> StorageFailureError:
    return StorageFailureError(
        f"The local access token can't be {verb}.",
        hint="Check that the data directory is a folder of your own and that the disk is not full.",
    )
