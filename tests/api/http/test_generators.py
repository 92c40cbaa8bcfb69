"""Programs that write clients read the whole description, and find nothing to warn of."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from api.app import create_app
from drive_server.kernel.settings import DriveSettings
from graph.settings import AgentSettings
from tests.node.runtime import OPENAPI_TYPESCRIPT, TYPESCRIPT, environment, program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SECONDS = 120
CLIENT_CONFIG = """
post_hooks: []
content_type_overrides:
  "*/*": application/octet-stream
  image/webp: application/octet-stream
  application/zip: application/octet-stream
"""
"""No formatter runs over the client; it does not know by itself that these are bytes."""


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("described")
    app = create_app(DriveSettings(data_dir=folder, embedding_model="none"), AgentSettings(model="offline"))
    path = folder / "openapi.json"
    path.write_text(json.dumps(app.openapi()))
    return path


def run(line: Sequence[str], folder: Path) -> str:
    """Run a program that must succeed; return all that it says."""
    done = subprocess.run(
        line, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def test_openapi_typescript_makes_types_that_compile(description: Path) -> None:
    folder = description.parent
    said = run(program(OPENAPI_TYPESCRIPT, str(description), "--output", "types.d.ts"), folder)
    assert "warn" not in said.lower(), said
    (folder / "use.ts").write_text(
        'import type { operations, components } from "./types";\n'
        'type Event = operations["chat"]["responses"][200]["content"]["text/event-stream"];\n'
        'export const done = (event: Event): boolean => event.type === "done" && event.status === "success";\n'
        'export const code = (problem: components["schemas"]["Problem"]): string => problem.code;\n'
    )
    assert not run(program(TYPESCRIPT, "--noEmit", "--strict", "use.ts"), folder).strip()


def test_openapi_python_client_makes_a_client_without_a_warning(description: Path) -> None:
    folder = description.parent
    (folder / "config.yaml").write_text(CLIENT_CONFIG)
    line = ["generate", "--path", str(description), "--meta", "none", "--output-path", "client", "--fail-on-warning"]
    said = run([sys.executable, "-m", "openapi_python_client", *line, "--config", "config.yaml"], folder)
    assert "warning" not in said.lower(), said
    operations = {path.stem for path in (folder / "client" / "api").glob("*/*.py")}
    described = json.loads(description.read_text())["paths"].values()
    assert operations >= {operation["operationId"] for path in described for operation in path.values()}
    run([sys.executable, "-m", "compileall", "-q", "client"], folder)
