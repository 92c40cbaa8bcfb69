"""Windows has no fcntl, resource and the like: no module of ours needs them to be imported."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGES = ("api", "drive_server", "graph")
POSIX_PROGRAMS = {"graph.servers.connections.supervisor"}
"""A program of its own, the parent of others: where there is no POSIX, no such server runs."""
MISSING_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "uvloop"}
MISSING_NAMES = {
    "os": {"O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "fork", "geteuid", "getuid", "killpg", "nice", "setsid"},
    "signal": {"SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "setitimer"},
    "socket": {"AF_UNIX"},
}
RUN_BY_ALEMBIC = {"api.storage.migrations.env", "drive_server.kernel.sql.migrations.env"}
PROGRAM = """
import builtins, importlib, pkgutil, sys
missing, skipped = (set(names.split(",")) for names in sys.argv[1:3])
packages = sys.argv[3:]
import_as_it_is = builtins.__import__

def import_of_windows(name, globals=None, locals=None, fromlist=(), level=0):
    importer = (globals or {}).get("__name__", "")
    if importer.partition(".")[0] in packages and name.partition(".")[0] in missing:
        raise ImportError(f"{importer} imports {name}")
    return import_as_it_is(name, globals, locals, fromlist, level)

builtins.__import__ = import_of_windows
for package in packages:
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if found.name not in skipped:
            importlib.import_module(found.name)
            print(found.name)
"""


def test_all_modules_are_imported_where_there_is_no_posix() -> None:
    names = [",".join(MISSING_MODULES), ",".join(POSIX_PROGRAMS | RUN_BY_ALEMBIC), *PACKAGES]

    command = [sys.executable, "-c", PROGRAM, *names]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stderr[-2000:]
    assert len(result.stdout.splitlines()) > 500


def needed_to_import(text: str) -> Iterator[str]:
    """Yield the names of POSIX that a module looks up while it is imported."""
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Attribute) and node.attr in MISSING_NAMES.get(ast.unparse(node.value), ()):
            yield ast.unparse(node)
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        waiting += [node.args] if is_function else ast.iter_child_nodes(node)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_looks_up_a_name_of_posix_while_it_is_imported(package: str) -> None:
    found: dict[str, list[str]] = {}
    for path in (ROOT / package).rglob("*.py"):
        name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        if name not in POSIX_PROGRAMS and (names := [*needed_to_import(path.read_text())]):
            found[name] = names

    assert found == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import os\nFLAGS = os.O_RDONLY | os.O_NOFOLLOW", ["os.O_NOFOLLOW"]),
        ("import signal\ndef end(number=signal.SIGKILL): pass", ["signal.SIGKILL"]),
        ("import signal\ndef end():\n    return signal.SIGKILL", []),
        ("class A:\n    family = socket.AF_UNIX", ["socket.AF_UNIX"]),
    ],
)
def test_a_name_that_is_looked_up_at_once_is_found(text: str, names: list[str]) -> None:
    assert [*needed_to_import(text)] == names
