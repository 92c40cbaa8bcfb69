"""The installed command, with all modules of the service loaded before it begins."""

from __future__ import annotations

from importlib import import_module

from api.cli import main

__all__ = ["main"]

for name in ("api.app", "api.cli.service.local_service", "api.cli.service.serve"):
    import_module(name)
