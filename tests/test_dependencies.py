"""The program's own requirements cover all that it imports: nothing of it is installed for the tests only."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGES = ("drive_server", "graph", "api")
PRIVATE_MEMBERS = {
    "drive_server/mcp/sdk.py",
    "graph/langgraph_internals.py",
    "graph/models/client/incoming.py",
}
"""The files that use private members of a library, one for each: the MCP SDK, aiosqlite, langgraph, aiohttp."""
PROGRAM = """
import importlib, pkgutil, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

PACKAGES, BLOCKED = sys.argv[1].split(), set(sys.argv[2:])
sys.meta_path.insert(0, Missing())
for name in PACKAGES:
    package = importlib.import_module(name)
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith(("__main__", ".env")):
            importlib.import_module(found.name)
"""


@cache
def needed() -> frozenset[str]:
    """Return the names of all distributions that installing the program alone brings."""
    found: set[str] = set()
    waiting: list[tuple[str, str]] = [("drive-agent", "")]
    done: set[tuple[str, str]] = set()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in done:
            continue
        done.add((name, extra))
        try:
            requires = distribution(name).requires or []
        except PackageNotFoundError:  # for another platform or version of Python
            continue
        found.add(name)
        for requirement in map(Requirement, requires):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                required = canonicalize_name(requirement.name)
                waiting += [(required, wanted) for wanted in ("", *requirement.extras)]
    return frozenset(found)


@cache
def others() -> frozenset[str]:
    """Return the importable names of what is installed besides."""
    installed = packages_distributions().items()
    return frozenset(
        name for name, makers in installed if not any(canonicalize_name(maker) in needed() for maker in makers)
    )


def imported(source: Path) -> set[str]:
    """Return the first parts of all names that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def test_the_tests_bring_things_that_the_program_does_not_need() -> None:
    assert {"pytest", "hypothesis"} <= others()
    assert not {"fastapi", "lancedb", "mcp", "uvicorn"} & others()


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_names_a_package_that_does_not_come_with_the_program(package: str) -> None:
    missing = {str(path.relative_to(ROOT)): imported(path) & others() for path in (ROOT / package).rglob("*.py")}
    assert {path: names for path, names in missing.items() if names} == {}


def test_every_module_is_imported_where_only_the_program_is_installed() -> None:
    command = [sys.executable, "-c", PROGRAM, " ".join(PACKAGES), *sorted(others())]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_private_members_of_a_library_are_used_in_one_file() -> None:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    found = {str(path.relative_to(ROOT)) for path in files if "reportPrivateUsage" in path.read_text()}
    assert found <= PRIVATE_MEMBERS
