"""Set a damaged index on this machine aside, so that a new one can be built at its place. Reads nothing of it."""

import logging
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

MARK: Final = ".damaged-"
MAX_KEPT: Final = 1
"""So many damaged indices stay, to be looked at; older ones are deleted, as each may be as large as the drive."""


def is_local(url: str) -> bool:
    """Return whether an index at this URL is a folder of this machine."""
    return "://" not in url


def set_aside(folder: Path) -> None:
    """Give the folder, or a file at its place, another name; empty it if it can't have one. Raises `OSError`.

    Files whose names begin with a dot are no part of the index, and stay: one says which drive the folder belongs to.
    """
    aside = _free_name(folder)
    try:
        folder.rename(aside)
        _copy_hidden(aside, folder)
    except FileNotFoundError:
        return
    except OSError:
        # A mount point can't be renamed, nor can a folder whose files are open on Windows.
        logger.warning("The damaged search index could not be renamed; it is emptied.", exc_info=True)
        _empty(folder)
    for old in sorted(folder.parent.glob(f"{folder.name}{MARK}*"))[:-MAX_KEPT]:
        _delete(old)


def _free_name(folder: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    return folder.with_name(f"{folder.name}{MARK}{stamp}")


def _copy_hidden(aside: Path, folder: Path) -> None:
    hidden = [entry for entry in aside.glob(".*") if entry.is_file()]
    if hidden:
        folder.mkdir(mode=0o700, exist_ok=True)
    for entry in hidden:
        shutil.copy2(entry, folder)


def _empty(folder: Path) -> None:
    for entry in list(folder.iterdir()):
        if entry.name.startswith(".") and entry.is_file():
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _delete(old: Path) -> None:
    if old.is_dir() and not old.is_symlink():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.unlink(missing_ok=True)
