"""All that the documents promise exists, and all that exists is documented."""

import os
import re
import subprocess
from pathlib import Path
from typing import get_type_hints

import pytest

from api.cli.arguments import build_parser
from drive_server.connect import DriveSettings
from drive_server.kernel import errors
from graph.events.definitions import EVENTS
from graph.settings import AgentSettings
from graph.tools.box import LOCAL_NAMES
from tests.graph.facts import TOOLS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
SETTINGS = (ROOT / "docs" / "SETTINGS.md").read_text()
COMMANDS = (ROOT / "docs" / "COMMANDS.md").read_text()
ARCHITECTURE = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
MCP = (ROOT / "docs" / "MCP.md").read_text()
HTTP = (ROOT / "docs" / "HTTP.md").read_text()
CLIENTS = (ROOT / "docs" / "CLIENTS.md").read_text()
SERVERS = (ROOT / "docs" / "SERVERS.md").read_text()
MEMORY = (ROOT / "docs" / "MEMORY.md").read_text()
PAGE = (ROOT / "docs" / "PAGE.md").read_text()
DEPLOYMENT = (ROOT / "docs" / "DEPLOYMENT.md").read_text()
OPERATIONS = (ROOT / "docs" / "OPERATIONS.md").read_text()
SECURITY = (ROOT / "docs" / "SECURITY.md").read_text()


def setting_names() -> list[str]:
    named: list[str] = []
    for settings in (DriveSettings, AgentSettings):
        prefix = settings.model_config.get("env_prefix", "")
        for name, field in settings.model_fields.items():
            alias = field.validation_alias
            named.append(alias.choices[0] if alias and not isinstance(alias, str) else f"{prefix}{name}".upper())  # pyright: ignore[reportAttributeAccessIssue, reportArgumentType] - settings here use AliasChoices of plain names
    return named


@pytest.mark.parametrize("name", setting_names())
def test_every_setting_has_its_row(name: str) -> None:
    assert f"| `{name}` |" in SETTINGS


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_has_its_row(name: str) -> None:
    assert f"| `{name}` |" in (MEMORY if name in LOCAL_NAMES else MCP)


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_every_event_has_its_row_with_its_fields(name: str) -> None:
    row = next(line for line in HTTP.splitlines() if line.startswith(f"| `{name}` |"))
    fields = set(get_type_hints(EVENTS[name].schema)) - {"type"}
    assert fields <= set(re.findall(r"\w+", row))


@pytest.mark.parametrize(
    "code",
    sorted(
        {kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.DriveError)}
    ),
)
def test_every_error_code_has_its_row(code: str) -> None:
    assert f"| `{code}` |" in MCP


def test_every_command_has_its_row() -> None:
    commands = re.findall(r"^    ([a-z]+) ", build_parser().format_help(), re.MULTILINE)
    assert {"serve", "chat", "import", "undo"} <= set(commands)
    assert [command for command in commands if f"drive-agent {command}" not in COMMANDS] == []


def test_the_readme_is_read_on_two_screens() -> None:
    assert len(README.encode()) <= 10_000


@pytest.mark.parametrize(
    "text",
    [README, ARCHITECTURE, CLIENTS, MEMORY, PAGE],
    ids=["README", "ARCHITECTURE", "CLIENTS", "MEMORY", "PAGE"],
)
def test_every_path_that_is_named_exists(text: str) -> None:
    named = re.findall(r"`((?:api|graph|drive_server|tests|docs|benchmarks)/[\w./]*)`", text)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_test_that_make_names_exists() -> None:
    outer = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "--dry-run", "--always-make", "soak", "test-s3", "test-storage"]
    printed = subprocess.run(command, cwd=ROOT, env=outer, capture_output=True, text=True, check=True).stdout
    named = re.findall(r"(?<= )tests/[\w./]+", printed)
    assert "tests/conformance/s3" in named
    assert [path for path in named if not (ROOT / path).exists()] == []


def rooms_of_the_map() -> set[str]:
    """Return the folders in the tree of docs/ARCHITECTURE.md, each with those that it is in."""
    tree = re.findall(r"^( *)([a-z_]+)/  ", ARCHITECTURE, re.MULTILINE)
    above: list[str] = []
    found: set[str] = set()
    for indent, name in tree:
        above[len(indent) // 2 :] = [name]
        found.add("/".join(above))
    return found


def test_the_map_has_every_folder_and_no_other() -> None:
    packages = [path for package in ("drive_server", "graph", "api") for path in (ROOT / package).rglob("__init__.py")]
    folders = {path.parent.relative_to(ROOT).as_posix() for path in packages}
    assert rooms_of_the_map() == folders | {"api/web"}


def test_each_room_of_the_page_has_its_row() -> None:
    rooms = re.findall(r"^\| `(\w+)/` \|", PAGE, re.MULTILINE)
    assert rooms
    assert set(rooms) == {path.name for path in (ROOT / "api" / "web").iterdir() if path.is_dir()}


DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_every_link_and_picture_leads_somewhere(document: Path) -> None:
    text = document.read_text()
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert [target for target in targets if not (document.parent / target).exists()] == []
