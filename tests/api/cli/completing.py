"""What real shells complete, asked without a terminal."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BASH = 'source ./script; COMP_WORDS=(drive-agent "$@"); COMP_CWORD=$#; _drive_agent; printf "%s\\n" "${COMPREPLY[@]}"'
# What works in zsh's line editor alone is replaced; `compadd` offers what begins with the word.
ZSH = """\
compdef() { completer=$1 }
source ./script
compset() { return 1 }
compadd() { print -rl -- ${(M)matches:#${words[CURRENT]}*} }
words=(drive-agent "$@") CURRENT=$(($# + 1))
eval "$completer"
"""


def completed(shell: str, folder: Path, words: list[str]) -> list[str]:
    """Return the words that a shell offers in place of the last one; `script` in the folder is what it loads."""
    line = shlex.quote(" ".join(["drive-agent", *words]))
    commands = {
        "bash": ["bash", "-c", BASH, "bash", *words],
        "zsh": ["zsh", "-f", "-c", ZSH, "zsh", *words],
        "fish": ["fish", "--no-config", "-c", f"source ./script; complete -C {line}"],
    }
    environment = {**os.environ, "HOME": str(folder)}
    result = subprocess.run(
        commands[shell], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=20
    )
    assert result.stderr == ""
    return [line.partition("\t")[0] for line in result.stdout.splitlines()]
