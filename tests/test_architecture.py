"""Rules of the layout that import-linter can't state."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import mcp
import pytest

from graph.routing.intent_table import ROWS
from tests.graph.facts import DRIVE_TOOLS, TOOLS

ROOT = Path(__file__).parents[1]
MODULES = sorted(path for package in ("drive_server", "graph", "api") for path in (ROOT / package).rglob("*.py"))
PAGE = sorted(
    path
    for folder in ("api/web", "tests/web")
    for kind in ("*.js", "*.css")
    for path in (ROOT / folder).rglob(kind)
    if "vendor" not in path.parts
)
"""Modules and styles of the page; its libraries are as they were published."""
MAX_MODULES = 15
MAX_LINES = 500
MAX_PLACES = 6
SDK = "drive_server/mcp/sdk.py"
MIGRATIONS = {ROOT / "drive_server/storage/migrations/versions", ROOT / "api/storage/migrations"}
"""One module each, for ever: they have to grow."""

MAY_NAME_TOOLS = {
    "graph/agents/": "each specialist lists the tools that it may use",
    "graph/drive/tool_names.py": "the tools that the assistant calls by itself: a client names what it calls",
    "graph/tools/": "the records of the assistant's own tools",
    "graph/offline/": "the offline model names tools as any model does",
    "graph/routing/": "actions of the router, some of which have the name of the tool that does them",
    "graph/planning/abilities.py": "the same actions of the router",
    "drive_server/services/": "actions of the journal, five of which have the name of the tool that does them",
    "drive_server/mcp/tools/sharing.py": "one of the same actions, in the record of the tool of its name",
    "graph/drive/sentences.py": "the same actions of the journal",
    "api/cli/arguments.py": "`forget` is a command too",
    "drive_server/__main__.py": "`reindex` is a command too",
}


MAY_NAME_DATABASES = {
    "drive_server/kernel/sql/": "databases, whichever there is",
    "drive_server/storage/": "the storage of the drive",
    "api/storage/": "the storage of the service, and its threads",
    "api/cli/backups/": "copies databases, each in its own way, and moves one from files to a server",
    "api/cli/exports/table.py": "a table of its own in a temporary file, whatever the database is",
    "drive_server/kernel/settings.py": "the URL of the database that is used if none is named",
    "drive_server/services/search/names.py": "how each database compares names without case",
    "drive_server/kernel/telemetry/faults.py": "the attribute in which a driver's error has its name",
}
"""By folder or module: the reason. All others say that a database is embedded, or has a server."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_folder_has_more_than_fifteen_modules() -> None:
    modules = [path for path in MODULES if path.name != "__init__.py" and path.parent not in MIGRATIONS]
    folders = Counter(path.parent for path in (*modules, *PAGE))
    assert {name_of(folder): count for folder, count in folders.items() if count > MAX_MODULES} == {}


def test_only_storage_and_a_few_named_modules_know_which_database_there_is() -> None:
    naming = {name_of(path) for path in MODULES if {"postgres", "sqlite"} & _words_of(path)}
    assert sorted(name for name in naming if not name.startswith(tuple(MAY_NAME_DATABASES))) == []
    unused = [place for place in MAY_NAME_DATABASES if not any(name.startswith(place) for name in naming)]
    assert unused == [], "these need no exception any more"


def _words_of(path: Path) -> set[str]:
    """Return which of both databases the module names, as `git grep` finds it."""
    code = path.read_text()
    return {word for word in ("postgres", "sqlite") if word in code and not name_of(path).startswith("graph/")}


def test_no_module_is_longer_than_500_lines() -> None:
    tests = (ROOT / "tests").rglob("*.py")
    scripts = [path for path in PAGE if path.suffix == ".js"]
    lines = {name_of(path): path.read_bytes().count(b"\n") for path in (*MODULES, *scripts, *tests)}
    assert {name: count for name, count in lines.items() if count > MAX_LINES} == {}


def test_each_folder_says_what_it_is_for() -> None:
    packages = [path for path in MODULES if path.name == "__init__.py" and "migrations" not in path.parts]
    assert [name_of(path) for path in packages if not ast.get_docstring(ast.parse(path.read_text()))] == []


def test_no_tool_is_named_outside_of_its_record_and_the_specialists() -> None:
    found = {
        f"{name_of(path)}:{node.lineno}: {node.value}"
        for path in MODULES
        if not name_of(path).startswith(tuple(MAY_NAME_TOOLS))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in TOOLS
    }
    assert found == set()


def test_a_changing_tool_stands_in_six_modules_or_fewer_in_the_middle() -> None:
    """A router's action may have the name of the tool that does it: those are told apart in no module."""
    actions = {row.action for row in ROWS}
    changing = [name for name, tool in DRIVE_TOOLS.items() if not tool.read_only and name not in actions]
    modules = [path.read_text() for path in (*MODULES, *PAGE) if not MIGRATIONS & {path.parent}]
    counts = sorted(sum(bool(re.search(rf"\b{name}\b", code)) for code in modules) for name in changing)
    assert len(counts) > 10
    assert counts[len(counts) // 2] <= MAX_PLACES, counts


def imports_the_sdk(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "mcp" for node in tree.body
    )


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_members_of_the_sdk() -> set[str]:
    """Return the private names that classes of the SDK which the drive inherits from define."""
    assert mcp.__file__
    folder = Path(mcp.__file__).parent
    files = ("server/fastmcp/server.py", "server/lowlevel/server.py", "server/session.py", "client/session.py")
    trees = [ast.parse((folder / file).read_text()) for file in (*files, "shared/session.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    methods = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return {
        name for name in methods | {node.attr for node in nodes if isinstance(node, ast.Attribute)} if is_private(name)
    }


def reaches(tree: ast.Module, sdks: set[str]) -> Iterator[int]:
    """Yield the lines that use a private member of another object, or one that a class inherits from the SDK."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            is_own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            if not is_own:
                yield node.lineno
        if isinstance(node, ast.ClassDef) and any(
            "Server" in ast.unparse(b) or "Session" in ast.unparse(b) for b in node.bases
        ):
            members = [member for member in ast.walk(node) if isinstance(member, ast.Attribute)]
            yield from (member.lineno for member in members if member.attr in sdks)
            methods = [member for member in node.body if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)]
            yield from (method.lineno for method in methods if method.name in sdks)


@pytest.mark.parametrize("package", ["drive_server", "graph", "api"])
def test_private_members_of_the_sdk_are_reached_in_one_file(package: str) -> None:
    sdks = private_members_of_the_sdk()
    trees = {name_of(path): ast.parse(path.read_text()) for path in MODULES if name_of(path).startswith(f"{package}/")}
    found = {f"{name}:{line}" for name, tree in trees.items() if imports_the_sdk(tree) for line in reaches(tree, sdks)}
    assert {place for place in found if not place.startswith(SDK)} == set()
    assert package != "drive_server" or found
