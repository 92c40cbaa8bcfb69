"""The installed command, with all modules of the service loaded before it begins."""

from __future__ import annotations

import sys
from importlib import import_module

from api.cli import main

__all__ = ["main"]

sys.argv[0] = "drive-agent"
for name in ("api.app", "api.cli.service.local_service", "api.cli.service.serve"):
    import_module(name)
