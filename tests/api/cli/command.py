"""Runs the installed command as a process of its own, as a person or a script does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    """Run `drive-agent` to its end."""
    return subprocess.run(
        [COMMAND, *arguments],
        env=environment(settings),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
