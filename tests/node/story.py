"""Stories that Node tells: a module that does something with packages from npm, and then prints what came of it."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any, Final

from tests.node.runtime import NODE, PACKAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

ASKS: Final = "do: "
"""Begins a line by which a story has the test do something; it goes on without waiting for that."""
SECONDS: Final = 90


def tell(parts: list[Path], *arguments: str, deeds: Mapping[str, Callable[[], object]] | None = None) -> Any:
    """Run the parts as one module, and return the JSON of its last line. `deeds` are what it may ask for."""
    source = "\n".join(part.read_text() for part in parts)
    command = [NODE, "--input-type=module", "--eval", source, *arguments]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    lines: list[str] = []
    with subprocess.Popen(command, cwd=PACKAGES, **pipes) as process:
        assert process.stdout
        for line in map(str.strip, process.stdout):
            if deeds and line.startswith(ASKS):
                deeds[line.removeprefix(ASKS)]()
            else:
                lines.append(line)
        process.wait(SECONDS)
    assert process.returncode == 0, "\n".join(lines)
    return json.loads(lines[-1])
