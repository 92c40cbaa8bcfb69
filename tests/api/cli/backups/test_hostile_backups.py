"""Backups whose lists, databases or folders somebody changed: nothing outside is read or written."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import make_url

from api.cli import main
from api.cli.backups.backup import prune
from api.cli.backups.contents import remove_unused
from api.cli.backups.layout import Record, digest_of, generations_in, write_record
from drive_server.kernel.sql.engine import configure_sqlite
from drive_server.storage.tables.drive_schema import SCHEMA
from tests.hostile_names import OUTER

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = b"content"
HASH = hashlib.sha256(CONTENT).hexdigest()
USER = "INSERT INTO users (id, email, root_id, is_admin, created_at) VALUES ('u', 'a@b.c', 'r', 0, '2026-01-01')"
NODE = """
INSERT INTO nodes (id, owner_id, kind, name, revision, version, size, media_type, created_at, updated_at, modified_at)
VALUES ('n', 'u', 'file', 'a.txt', 1, 1, 7, 'text/plain', '2026-01-01', '2026-01-01', '2026-01-01')
"""
VERSION = """
INSERT INTO versions (node_id, author_id, number, blob, size, media_type, created_at, modified_at)
VALUES ('n', 'u', 1, ?, 7, 'text/plain', '2026-01-01', '2026-01-01')
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a whole backup, and something beside it."""
    root = tmp_path / "work" / "backups"
    blob = root / "blobs" / HASH[:2] / HASH[2:4] / HASH
    blob.parent.mkdir(parents=True)
    blob.write_bytes(CONTENT)
    made = root / "generations" / "2026-01-01T00-00-00.000000Z"
    made.mkdir(parents=True)
    make_database(made / "drive.db", HASH)
    (made / "token").write_text("token")
    record(made)
    (tmp_path / "x").write_text("outside")
    (tmp_path / "work" / "x").write_text("outside")
    return root


def make_database(path: Path, blob: str) -> None:
    path.unlink(missing_ok=True)
    SCHEMA.upgrade(make_url(f"sqlite:///{path}"), configure_sqlite)
    with closing(sqlite3.connect(path)) as connection:
        with connection:
            connection.execute(USER)
            connection.execute(NODE)
            connection.execute(VERSION, (blob,))
        connection.execute("PRAGMA journal_mode = DELETE")


def record(made: Path, **changes: Any) -> None:
    """Write the record of a generation as it is, but for some changes."""
    (made / "backup.json").unlink(missing_ok=True)
    files = {path.name: digest_of(path) for path in sorted(made.iterdir())}
    write_record(made, Record("2026-01-01T00:00:00+00:00", "1", {"drive.db": "0022"}, files, 1, len(CONTENT)))
    document = json.loads((made / "backup.json").read_text())
    for name, value in changes.items():
        document[name] = {**document[name], **value} if isinstance(value, dict) else value
    (made / "backup.json").write_text(json.dumps(document))


def generation(root: Path) -> Path:
    return next((root / "generations").iterdir())


def everything(tmp_path: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()}


def refused(root: Path, tmp_path: Path) -> None:
    """The check fails, and a restore writes nothing anywhere."""
    before = everything(tmp_path)
    assert main(["backup", str(root), "--verify"]) == 1
    assert main(["restore", str(root), "--into", str(tmp_path / "work" / "restored")]) == 1
    after = {path: body for path, body in everything(tmp_path).items() if ".restoring" not in path}
    assert after == before
    assert not (tmp_path / "work" / "restored").exists()


def test_an_untouched_backup_is_whole_and_restored(root: Path, tmp_path: Path) -> None:
    assert main(["backup", str(root), "--verify"]) == 0
    assert main(["restore", str(root), "--into", str(tmp_path / "work" / "restored")]) == 0
    assert (tmp_path / "work" / "restored" / "token").read_text() == "token"


@pytest.mark.parametrize("name", [*OUTER, "other.txt", "DRIVE.DB", "blobs", "backup.json", "ｄrive.db"])
@pytest.mark.parametrize("place", ["files", "schemas"])
def test_a_name_that_no_backup_has_is_refused(root: Path, tmp_path: Path, name: str, place: str) -> None:
    value = hashlib.sha256(b"outside").hexdigest() if place == "files" else "0001"
    record(generation(root), **{place: {name: value}})

    refused(root, tmp_path)


@pytest.mark.parametrize("value", [None, [], "x", {"token": 1}, {"token": "x"}, 7])
def test_a_malformed_list_is_refused_with_a_sentence(root: Path, tmp_path: Path, value: Any) -> None:
    document = json.loads((generation(root) / "backup.json").read_text())
    (generation(root) / "backup.json").write_text(json.dumps({**document, "files": value}))

    refused(root, tmp_path)


@pytest.mark.parametrize("blob", [*(name for name in OUTER if "\0" not in name and name != "\ud800"), HASH.upper()])
def test_a_content_with_another_name_than_its_hash_is_refused(root: Path, tmp_path: Path, blob: str) -> None:
    make_database(generation(root) / "drive.db", blob)
    record(generation(root))

    refused(root, tmp_path)


@pytest.mark.parametrize("place", ["token", "blob", "shard", "generation"])
def test_a_link_in_a_backup_is_not_followed(root: Path, tmp_path: Path, place: str) -> None:
    blob = root / "blobs" / HASH[:2] / HASH[2:4] / HASH
    link = {"token": generation(root) / "token", "blob": blob, "shard": blob.parent, "generation": generation(root)}
    real = tmp_path / "elsewhere"
    shutil.move(link[place], real)
    link[place].symlink_to(real)

    refused(root, tmp_path)


def test_another_generation_is_restored_beside_one_that_was_changed(root: Path, tmp_path: Path) -> None:
    other = root / "generations" / "2026-01-02T00-00-00.000000Z"
    shutil.copytree(generation(root), other)
    record(other, files={"../../../x": HASH})
    target = tmp_path / "work" / "restored"

    assert main(["restore", str(root), "--into", str(target)]) == 1
    assert main(["restore", str(root), "--into", str(target), "--generation", generations_in(root)[0].name]) == 0


def test_pruning_removes_nothing_over_a_link(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside" / "ab"
    outside.mkdir(parents=True)
    (outside / "precious").write_text("mine")
    (root / "blobs" / "00").symlink_to(outside.parent)

    assert remove_unused(root / "blobs", [HASH]) == 0
    prune(root, 1)

    assert (outside / "precious").exists()
