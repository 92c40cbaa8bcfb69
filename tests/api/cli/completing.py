"""Run completion in real shells: in bash without a terminal, and in each shell with keys typed in a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from tests.api.cli.command import COMMAND, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from pathlib import Path

BASH = 'source ./script; COMP_LINE=$1; COMP_POINT=${#1}; _drive_agent; printf "%s\\n" "${COMPREPLY[@]}"'
# Reads what it is to start with, and says when it is ready for the next line.
STARTS: Mapping[str, tuple[list[str], str]] = {
    "bash": (["--noprofile", "--rcfile", "./start", "-i"], "PROMPT_COMMAND=': > ready'"),
    "zsh": (["-d", "-i"], "autoload -Uz compinit; compinit -D -u; precmd() { : > ready }"),
    "fish": (["--no-config", "-i", "-C", "source ./start"], "function at --on-event fish_prompt; echo > ready; end"),
}
# Stands for the command: it writes down what it was called with. Without paths to offer, it asks the real one.
STAND_IN = """\
#!/bin/sh
cd {folder}
if [ "$1" != completion ]; then
    printf '%s\\0' "$@" > typing && mv typing typed
elif [ ! -e paths ]; then
    exec {command} "$@"
else
    shift 2
    printf '%s\\0' "$@" > asked
    for word; do :; done
    while IFS= read -r path; do
        case "$path" in "$word"*) printf '%s\\n' "$path" ;; esac
    done < paths
fi
"""
SECONDS = 20


def completed_by_bash(folder: Path, words: list[str]) -> list[str]:
    """Return the words that bash offers in place of the last one; `script` in the folder is what it loads."""
    result = subprocess.run(
        ["bash", "-c", BASH, "bash", " ".join(["drive-agent", *words])],
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert result.stderr == ""
    return result.stdout.splitlines()


class Typist:
    """Types lines in a shell; `paths` in its folder are what the drive has."""

    def __init__(self, folder: Path, master: int) -> None:
        self._folder = folder
        self._master = master
        self.shown = b""

    def read(self) -> None:
        """Read what the shell shows, until it ends."""
        with suppress(OSError):
            while chunk := os.read(self._master, 4096):
                self.shown += chunk

    def type(self, keys: str) -> list[str]:
        """Type the words of a command and Enter; return the words that the command gets."""
        ready, typed = self._folder / "ready", self._folder / "typed"
        self._wait(ready.exists)
        ready.unlink()
        os.write(self._master, f"drive-agent {keys}\r".encode())
        self._wait(typed.exists)
        words = typed.read_text(encoding="utf-8").split("\0")[:-1]
        typed.unlink()
        return words

    def asked(self) -> list[str]:
        """Return the words that the shell asked for paths with, the last time."""
        return (self._folder / "asked").read_text(encoding="utf-8").split("\0")[:-1]

    def _wait(self, is_done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SECONDS
        while not is_done():
            assert time.monotonic() < deadline, self.shown.decode(errors="replace")[-2000:]
            time.sleep(0.01)


@contextmanager
def typing_in(shell: str, folder: Path, script: str) -> Generator[Typist]:
    """Start a shell that has loaded the script, in a terminal of its own."""
    options, start = STARTS[shell]
    (folder / "bin").mkdir()
    stand_in = folder / "bin" / "drive-agent"
    stand_in.write_text(STAND_IN.format(folder=folder, command=COMMAND), encoding="utf-8")
    stand_in.chmod(0o755)
    (folder / "script").write_text(script, encoding="utf-8")
    for name in ("start", ".zshrc"):
        (folder / name).write_text(f"{start}\nsource ./script\n", encoding="utf-8")
    places = {"HOME": str(folder), "ZDOTDIR": str(folder), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    master, slave = pty.openpty()
    # A session of its own, whose terminal is the first one that it opens.
    command = [
        sys.executable,
        "-c",
        "import os, sys; os.open(sys.argv[1], os.O_RDWR); os.execvp(sys.argv[2], sys.argv[2:])",
    ]
    process = subprocess.Popen(
        [*command, os.ttyname(slave), shell, *options],
        cwd=folder,
        env=environment({**places, "TERM": "dumb", "LC_ALL": "C.UTF-8"}),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    typist = Typist(folder, master)
    reader = threading.Thread(target=typist.read)
    reader.start()
    try:
        yield typist
    finally:
        process.kill()
        process.wait()
        reader.join()
        os.close(master)
