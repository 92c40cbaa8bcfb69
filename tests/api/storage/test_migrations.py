"""Two versions of the program beside one another on one database: no migration disturbs the earlier one."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any, Final

import pytest

from api.storage.database import SCHEMA as SERVICE
from drive_server.storage.tables.drive_schema import SCHEMA as DRIVE

if TYPE_CHECKING:
    from pathlib import Path

SINCE: Final = {DRIVE.folder: "0024", SERVICE.folder: "0010"}
"""The newest migrations that earlier programs could not work beside, or that nobody has looked at for this."""
ADDING: Final = frozenset({"create_table", "create_index", "add_column", "execute", "get_bind", "f"})
STATEMENTS: Final = ("CREATE FUNCTION ", "CREATE TRIGGER ")
"""Statements that a migration may execute: a trigger here only tells."""


class Recorder:
    """Stands for Alembic's operations, and notes the calls of a migration."""

    def __init__(self, dialect: str) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.dialect = self
        self.name = dialect

    def __getattr__(self, operation: str) -> Any:
        def note(*arguments: Any, **options: Any) -> Recorder:
            self.calls.append((operation, arguments, options))
            return self

        return note


def disturbing(path: Path, dialect: str) -> list[str]:
    """Return what a migration does that an earlier program may not be able to work with."""
    spec = spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    migration = module_from_spec(spec)
    spec.loader.exec_module(migration)
    vars(migration)["op"] = recorder = Recorder(dialect)
    migration.upgrade()
    made = {arguments[0] for operation, arguments, _ in recorder.calls if operation == "create_table"}
    return [
        f"{path.stem}: {operation} {arguments}"
        for operation, arguments, options in recorder.calls
        if not is_additive(operation, arguments, options, made)
    ]


def is_additive(operation: str, arguments: tuple[Any, ...], options: dict[str, Any], made: set[str]) -> bool:
    """Say whether a program that knows nothing of it reads and writes as before."""
    if operation == "add_column":
        column = arguments[1]
        return (column.nullable or column.server_default is not None) and not column.unique
    if operation == "create_index":
        return arguments[1] in made or not options.get("unique")
    if operation == "execute":
        return str(arguments[0]).startswith(STATEMENTS)
    return operation in ADDING


def migrations() -> list[Path]:
    return [
        path
        for folder, since in SINCE.items()
        for path in sorted(folder.glob("[0-9]*.py"))
        if path.name.partition("_")[0] > since
    ]


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
@pytest.mark.parametrize("path", migrations(), ids=lambda path: path.stem)
def test_a_migration_only_adds_what_the_version_before_can_do_without(path: Path, dialect: str) -> None:
    assert disturbing(path, dialect) == []


@pytest.mark.parametrize(
    "does",
    [
        "op.drop_column('runs', 'words')",
        "op.add_column('runs', sa.Column('words', sa.Text(), nullable=False))",
        "op.create_index('ix', 'runs', ['words'], unique=True)",
        "op.alter_column('runs', 'words', nullable=False)",
        "op.rename_table('runs', 'turns')",
        "op.execute('UPDATE runs SET words = 1')",
    ],
)
def test_a_migration_that_takes_away_or_demands_is_found(does: str, tmp_path: Path) -> None:
    path = tmp_path / "9999_takes.py"
    path.write_text(f"import sqlalchemy as sa\nfrom alembic import op\n\ndef upgrade():\n    {does}\n")
    assert len(disturbing(path, "postgresql")) == 1
