"""The types of the service's requests and answers, by which the page's code is checked, from OpenAPI."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from api.app import create_app
from drive_server.kernel.settings import DriveSettings
from graph.settings import AgentSettings
from tests.node.runtime import OPENAPI_TYPESCRIPT, environment, program

SECONDS: Final = 120


def generated() -> str:
    """Return the types as openapi-typescript writes them."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        app = create_app(DriveSettings(data_dir=folder, embedding_model="none"), AgentSettings(model="offline"))
        described = app.openapi()
        # The bodies alone: what each route answers when is more than the page is typed by.
        described["paths"] = {}
        (folder / "openapi.json").write_text(json.dumps(described))
        line = program(OPENAPI_TYPESCRIPT, str(folder / "openapi.json"), "--output", str(folder / "types.d.ts"))
        subprocess.run(line, cwd=folder, env=environment(folder), capture_output=True, timeout=SECONDS, check=True)
        return (folder / "types.d.ts").read_text()
