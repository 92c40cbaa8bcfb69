"""`drive-agent` as it is, but its process is killed at the Nth call of one of its functions."""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from itertools import count
from typing import Any

from api.cli import main


def kill_at(target: str, number: int) -> None:
    """Have the process killed at that call of a function or method, given as `module:name` or `module:Class.name`."""
    module, _, path = target.partition(":")
    holder: Any = import_module(module)
    *classes, name = path.split(".")
    for each in classes:
        holder = getattr(holder, each)
    original, calls = getattr(holder, name), count(1)

    def killing(*given: Any, **options: Any) -> Any:
        if next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*given, **options)

    setattr(holder, name, killing)


if __name__ == "__main__":
    kill_at(sys.argv[1], int(sys.argv[2]))
    sys.exit(main(sys.argv[3:]))
