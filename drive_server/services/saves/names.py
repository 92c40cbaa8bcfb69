"""The names that programs give to files beside the one that they save: new contents, old ones, marks of an open file.

From the documented behaviour and recorded requests of Microsoft Office (`~WRD0000.tmp`, `~WRL0001.tmp`, eight
hexadecimal digits), LibreOffice (`lu1234ab.tmp`, `.~lock.x#`), macOS (`.sb-` names and folders, `.TemporaryItems`), vim
(`x~`, `.x.swp`, `4913`), Emacs (`x~`, `#x#`, `.#x`), GLib (`.goutputstream-`), Qt (`x.AbCdEf`), rsync (`.x.AbCdEf`),
rclone (`x.1a2b3c4d.partial`), JetBrains (`x___jb_tmp___`), Windows' ReplaceFile (`x~RF1a2b3c.TMP`), sed (`sedAbC123`),
perl (`XXAbC123`), mkstemp and Python's tempfile (`tmp.AbC123xyz0`, `tmpabc123_x`).
"""

import re
from collections.abc import Sequence
from typing import Final

SUFFIXES: Final = frozenset(
    {
        *(".asd", ".backup", ".bak", ".bck", ".bkp", ".crdownload", ".dav", ".download", ".fcbak", ".filepart", ".new"),
        *(".old", ".orig", ".part", ".partial", ".sav", ".save", ".swp", ".temp", ".tmp", ".wbk", ".xlk"),
    }
)
_SAVING_FOLDER: Final = "(a document being saved by "
_SANDBOX = re.compile(r".+\.sb-[0-9a-f]{4,}-\w+", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[0-9a-f]{8}", re.IGNORECASE)
_MADE_UP = re.compile(r"(?:sed|XX)\w{6}|tmp(?:\.\w{6,10}|[a-z\d_]{8})")
_ALWAYS_A_TAIL = re.compile(r"~[\w.]*|\.~\d+~|___\w+___")
_TAIL = re.compile(r"[\w.~@#$-]{1,64}")
_OPEN_FILE = re.compile(r"~\$.+|\.~lock\..+#|\.#.+|#.+#|\..+\.sw[a-p]", re.IGNORECASE)
_SCRATCH = re.compile(r"~wr[a-z]\d{4}\.tmp|~df\w+\.tmp|ppt\w{1,8}\.tmp|lu\w{5,}\.tmp|[0-9a-f]{8}\.tmp", re.IGNORECASE)
_PROBE = re.compile(r"\d{4,5}")


def suffix_of(name: str) -> str:
    """Return the end of the name from its last dot on, in lower case; empty without one, or for a hidden name."""
    stem, dot, suffix = name.rpartition(".")
    return f"{dot}{suffix}".lower() if stem else ""


def is_passing(name: str, saved: str) -> bool:
    """Return whether a program may give this name to a file while it saves the file `saved`."""
    if name == saved:
        return False
    if name.startswith(("~", "#")) or name.endswith("~") or (name.startswith(".") and not saved.startswith(".")):
        return True
    suffix = suffix_of(name)
    is_temporary = suffix != suffix_of(saved) and (suffix in SUFFIXES or suffix.startswith((".~", ".$")))
    patterns = (_SANDBOX, _HEXADECIMAL, _MADE_UP)
    return is_temporary or any(pattern.fullmatch(name) for pattern in patterns) or _continues(name, saved)


def is_passing_folder(name: str) -> bool:
    """Return whether programs make folders of this name to save a file in them."""
    is_marked = name.startswith((".", "~")) or name.casefold().startswith(_SAVING_FOLDER)
    return is_marked or bool(_SANDBOX.fullmatch(name)) or suffix_of(name) in {".tmp", ".temp"}


def is_passing_place(folders: Sequence[str], name: str, home: Sequence[str], saved: str) -> bool:
    """Return whether a program may put a file there while it saves the file `saved` in the folder `home`.

    Both folders are the names on the way to them from the same place.
    """
    shared = next((at for at, (one, other) in enumerate(zip(folders, home, strict=False)) if one != other), None)
    own = folders[shared if shared is not None else min(len(folders), len(home)) :]
    if own:
        return any(map(is_passing_folder, own))
    return len(folders) == len(home) and is_passing(name, saved)


def marks_an_open_file(name: str) -> bool:
    """Return whether programs make files of this name beside one that is open, and delete them when it is closed."""
    return bool(_OPEN_FILE.fullmatch(name))


def is_scratch(name: str) -> bool:
    """Return whether only programs make files of this name, for contents that they need for a moment."""
    return bool(_SCRATCH.fullmatch(name))


def is_probe(name: str) -> bool:
    """Return whether programs make empty files of this name, to learn whether they may write in a folder."""
    return bool(_PROBE.fullmatch(name)) or is_scratch(name)


def _continues(name: str, saved: str) -> bool:
    """Return whether the name is the other one with something after it, as backups and new contents have."""
    if not name.startswith(saved):
        return False
    tail = name[len(saved) :]
    return bool(_ALWAYS_A_TAIL.fullmatch(tail) or (suffix_of(saved) and _TAIL.fullmatch(tail)))
