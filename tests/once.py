"""Work that most tests would repeat, done once in each process of the test run."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mcp.server.fastmcp.tools import Tool

import api.storage.migrations
import drive_server.storage.migrations

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import pytest
    from sqlalchemy import URL


def copy_migrated_databases(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Migrate one empty SQLite database of each package; every other one begins as a copy of it."""
    for module in (drive_server.storage.migrations, api.storage.migrations):
        monkeypatch.setattr(module, "upgrade", _copying(module, folder / f"{module.__name__}.db"))


def _copying(module: ModuleType, template: Path) -> Callable[..., None]:
    upgrade: Callable[..., None] = module.upgrade

    def copy_or_upgrade(url: URL, configure: Callable[[Any], None] | None = None) -> None:
        if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).exists():
            if not template.exists():
                upgrade(url.set(database=str(template)), configure)
            _copy(template, Path(url.database))
        else:
            upgrade(url, configure)

    return copy_or_upgrade


def _copy(template: Path, target: Path) -> None:
    """Put a copy at the target, whole, unless another process is first."""
    unfinished = target.with_name(f".{uuid4().hex}")
    shutil.copyfile(template, unfinished)
    with suppress(FileExistsError):
        os.link(unfinished, target)
    unfinished.unlink()


def describe_tools_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build the schemas of the drive's tools for the first server; the functions of the others have the same code."""
    from_function = Tool.from_function
    described: dict[object, Tool] = {}

    def describe(function: Callable[..., Any], name: str | None = None, **options: Any) -> Tool:
        if not function.__module__.startswith("drive_server."):
            return from_function(function, name, **options)
        key = (getattr(function, "__code__", function), name)
        if key not in described:
            described[key] = from_function(function, name, **options)
        return described[key].model_copy(update={"fn": function, "parameters": described[key].parameters.copy()})

    monkeypatch.setattr(Tool, "from_function", describe)
