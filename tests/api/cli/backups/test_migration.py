"""An embedded installation moves to PostgreSQL: all of it, compared, or nothing."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from sqlalchemy import text

from api.cli import main
from api.cli.backups import migration, rows
from api.cli.service.data_dir import hold
from tests.api.cli.backups.installations import buckets, stack
from tests.api.real_service import RealService
from tests.databases import async_url, server
from tests.fakes.chat_model import ScriptedChatModel, route_to, tool_call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Person

__all__ = ["buckets", "stack"]


def serve(root: Path, stack: ExitStack, model: ScriptedChatModel | None = None, **options: Any) -> Person:
    service = RealService(root, model or ScriptedChatModel(), **options)
    service.start()
    stack.callback(service.stop)
    return stack.enter_context(closing(service.owner()))


def fill(root: Path) -> dict[str, Any]:
    """Use an embedded service, and stop it; return what it says of its drive and its conversation."""
    model = ScriptedChatModel(script=[route_to("drive_agent"), tool_call("create_folder", name="Made"), "Done \x00."])
    with ExitStack() as stack:
        owner = serve(root, stack, model)
        deep = owner.folder("里", owner.folder("Outer")["id"])
        file = owner.upload("plan.md", "one", deep["id"])
        owner.http.put(f"/api/drive/files/{file['id']}/content", content=b"two").raise_for_status()
        gone = owner.upload("gone.txt", "three")
        owner.http.post(f"/api/drive/items/{gone['id']}/trash").raise_for_status()
        with owner.chat("Make the folder Made") as turn:
            turn.finish()
        return told_by(owner)


def told_by(owner: Person) -> dict[str, Any]:
    (thread,) = owner.get("/api/threads")["items"]
    return {
        "export": owner.get("/api/drive/export"),
        "trash": [(item["id"], item["path"]) for item in owner.get("/api/drive/trash")["items"]],
        "conversation": owner.get(f"/api/threads/{thread['thread_id']}"),
        "changes": owner.get("/api/drive/changes"),
    }


def name(monkeypatch: pytest.MonkeyPatch, root: Path, url: str, contents: str = "") -> None:
    """Have commands find the servers by their settings."""
    monkeypatch.setenv("DRIVE_DATA_DIR", str(root))
    monkeypatch.setenv("DRIVE_DATABASE_URL", async_url(url) if url else "")
    monkeypatch.setenv("AGENT_THREADS_URL", url)
    key = root / "secrets.key"
    monkeypatch.setenv("AGENT_SECRETS_KEY", key.read_text().strip() if key.exists() else "")
    monkeypatch.setenv("DRIVE_BLOB_URL", contents)


@pytest.mark.parametrize("contents", ["", "s3://after"])
def test_an_embedded_service_goes_on_on_postgresql(
    tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch, contents: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, url = fill(tmp_path / "data"), server().new_database()
    name(monkeypatch, tmp_path / "data", url, contents)
    assert main(["migrate"]) == 0, capsys.readouterr()
    assert "Copied and compared" in capsys.readouterr().out
    assert not [*(tmp_path / "data").glob(f"{migration.DRAFT}*")]
    options: dict[str, Any] = {"blob_url": contents} if contents else {}
    owner = serve(tmp_path / "data", stack, database_url=async_url(url), **options)
    assert told_by(owner) == before
    (outer,) = [item for item in owner.children() if item["name"] == "Outer"]
    (plan,) = owner.children(owner.children(outer["id"])[0]["id"])
    assert owner.content(plan["id"]) == "two"
    owner.folder("Later")
    (later,) = owner.get("/api/drive/changes", limit="1")["changes"]
    assert int(later["id"]) > max(int(change["id"]) for change in before["changes"]["changes"])
    assert main(["migrate"]) == 1
    assert "is not empty" in capsys.readouterr().err


def test_a_copy_that_differs_leaves_nothing_and_may_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path / "data")
    url = server().new_database()
    name(monkeypatch, tmp_path / "data", url)
    copied = rows.copy_rows

    def lossy(source: Any, target: Any, table: Any) -> rows.Digest:
        digest = copied(source, target, table)
        if table.name == "versions":
            target.execute(text("DELETE FROM versions WHERE id = (SELECT max(id) FROM versions)"))
        return digest

    with monkeypatch.context() as patched:
        patched.setattr(migration, "copy_rows", lossy)
        assert main(["migrate"]) == 1
    assert "versions" in capsys.readouterr().err
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM nodes").fetchone() == (0,)
    assert main(["migrate"]) == 0, capsys.readouterr()


def test_settings_that_do_not_fit_are_said_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "data"
    name(monkeypatch, root, "")
    assert main(["migrate"]) == 1
    assert "DRIVE_DATABASE_URL" in capsys.readouterr().err
    name(monkeypatch, root, server().new_database())
    assert main(["migrate"]) == 1
    assert "nothing" in capsys.readouterr().err
    root.mkdir()
    (root / "drive.db").touch()
    (root / "secrets.key").write_text("another")
    assert main(["migrate"]) == 1
    assert "AGENT_SECRETS_KEY" in capsys.readouterr().err
    (root / "secrets.key").unlink()
    with hold(root):
        assert main(["migrate"]) == 1
    assert str(os.getpid()) in capsys.readouterr().err
