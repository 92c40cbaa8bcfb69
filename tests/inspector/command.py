"""The MCP Inspector's command line, as a developer runs it against a server."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from tests.node.runtime import INSPECTOR, environment, program

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 60


@dataclass(frozen=True, slots=True)
class Inspector:
    """Knows a server; `scratch` is where it keeps its own files."""

    target: tuple[str, ...]
    scratch: Path

    async def result(self, method: str, *arguments: str) -> dict[str, Any]:
        """Call the method, which has to work, and return what it answered."""
        exit_code, out, err = await self.run(method, *arguments)
        assert exit_code == 0, err
        return out["result"]

    async def run(self, method: str, *arguments: str) -> tuple[int, dict[str, Any], str]:
        """Call the method; return the exit code, what was printed as JSON, and what was complained of."""
        patience = ("--connect-timeout", str(SECONDS * 1000))
        options = ["--cli", *patience, *self.target, "--method", method, *arguments, "--format", "json"]
        # Its catalogue of servers and its settings: the person's own would otherwise be read, and written.
        files = {
            "MCP_CATALOG_PATH": str(self.scratch / "catalogue.json"),
            "MCP_CLIENT_CONFIG_PATH": str(self.scratch / "client.json"),
        }
        with anyio.fail_after(SECONDS):
            done = await anyio.run_process(
                program(INSPECTOR, *options), check=False, cwd=self.scratch, env=environment(self.scratch, **files)
            )
        return done.returncode, json.loads(done.stdout or b"{}"), done.stderr.decode()


def over_http(url: str, key: str, scratch: Path) -> Inspector:
    """Return the Inspector for a service at the address."""
    header = f"Authorization: Bearer {key}"
    return Inspector((f"{url}/mcp?tools=whole", "--transport", "http", "--header", header), scratch)


def over_stdio(data: Path, key: str, scratch: Path) -> Inspector:
    """Return the Inspector for the server that it starts itself, on the same data."""
    values = {"DRIVE_DATA_DIR": str(data), "DRIVE_EMBEDDING_MODEL": "none", "DRIVE_API_KEY": key}
    values["DRIVE_MCP_TOOLS"] = "whole"
    settings = [argument for name, value in values.items() for argument in ("-e", f"{name}={value}")]
    return Inspector((sys.executable, "-m", "drive_server", "stdio", *settings), scratch)
