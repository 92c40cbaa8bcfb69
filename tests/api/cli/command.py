"""Runs the command in a process of its own, as a person or a script does."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.service import PROGRAM
from tests.forked import run

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

COMMAND = Path(sys.executable).with_name("drive-agent")
OWN_SETTINGS = ("AGENT_", "ANTHROPIC_", "DEEPSEEK_", "DRIVE_", "OLLAMA_", "OPENAI_")


def environment(settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without any setting of the product, plus the given ones."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(OWN_SETTINGS)}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        inherited.pop(name, None)
    return {**inherited, **(settings or {})}


def drive_agent(
    *arguments: str, settings: Mapping[str, str] | None = None, stdin: str = "", seconds: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run `drive-agent` to its end; its modules are loaded before it begins."""
    return run(PROGRAM, arguments, environment(settings), stdin, seconds)
