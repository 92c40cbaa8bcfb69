"""The programs that the drive is tried with."""

from __future__ import annotations

import shutil


def program(name: str) -> str:
    """Return where the program is."""
    path = shutil.which(name)
    assert path is not None, f"{name} is not installed: run `python -m tests.conformance.webdav.install`"
    return path
