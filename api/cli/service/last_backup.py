"""The newest backup that this installation knows of: noted in the data directory, told when its data are damaged."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, Final

from api.cli.invocation import command_line
from api.cli.texts import text

logger = logging.getLogger(__name__)

NOTE: Final = "last_backup.json"


def note_backup(root: Path, generation: Path) -> None:
    """Note the newest backup in the data directory. A backup is none the worse if that fails."""
    draft = root / f".{NOTE}"
    try:
        draft.touch(mode=0o600)
        draft.write_text(json.dumps({"generation": str(generation.absolute())}), encoding="utf-8")
        draft.replace(root / NOTE)
    except OSError:
        logger.warning("The backup could not be noted in the data directory.", exc_info=True)


def restoring_advice(root: Path) -> str:
    """Return a sentence on the newest backup of the data directory, and the command that restores it."""
    generation = newest_backup(root)
    if generation is None:
        return text("backup_unknown")
    words = ["restore", str(generation.parent.parent), "--into", str(root), "--force"]
    return text("backup_newest", name=generation.name, command=command_line(words))


def newest_backup(root: Path) -> Path | None:
    """Return the folder of the backup that was noted, if it is still there."""
    try:
        noted: Any = json.loads((root / NOTE).read_text(encoding="utf-8"))
        generation = Path(str(noted["generation"]))
        return generation if generation.is_dir() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
