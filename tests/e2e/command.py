"""The installed command, with all modules of the service loaded before it begins."""

from __future__ import annotations

import sys
from importlib import import_module

from api import cli

for name in ("api.app", "api.cli.service.local_service", "api.cli.service.serve"):
    import_module(name)


def main(arguments: list[str]) -> int:
    """Run it."""
    sys.argv[0] = "drive-agent"
    return cli.main(arguments)
