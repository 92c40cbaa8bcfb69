"""An embedded installation moves to PostgreSQL: all of it, compared, or nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Final

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
    """Use an embedded service, and stop it; return the state of its drive, its conversations and its memories."""
    model = ScriptedChatModel(script=[route_to("drive_agent"), tool_call("create_folder", name="Made"), "Done \x00."])
    with ExitStack() as stack:
        owner = serve(root, stack, model)
        deep = owner.folder("里", owner.folder("Outer")["id"])
        file = owner.upload("plan.md", "one", deep["id"])
        owner.http.put(f"/api/drive/files/{file['id']}/content", content=b"two").raise_for_status()
        gone = owner.upload("gone.txt", "three")
        owner.http.post(f"/api/drive/items/{gone['id']}/trash").raise_for_status()
        owner.http.post("/api/users", json={"email": "bob@example.com"}).raise_for_status()
        link = owner.http.post(f"/api/drive/items/{file['id']}/shares", json={"role": "viewer"}).json()["url"]
        with owner.chat("Make the folder Made") as turn:
            turn.finish()
        model.script = [tool_call("remember", "m1", fact="I like tea"), "ok"]
        with owner.chat("list my files and remember that I like tea") as turn:
            turn.finish()
        shared = tool_call("share_item", "s1", item_id=file["id"], email="bob@example.com")
        model.script = [route_to("drive_agent"), shared]
        with owner.chat("Share the plan") as turn:
            turn.until("approval_needed")
        return {**told_by(owner), "link": link.rpartition("/s/")[2]}


def told_by(owner: Person) -> dict[str, Any]:
    threads = sorted(thread["thread_id"] for thread in owner.get("/api/threads")["items"])
    return {
        "export": owner.get("/api/drive/export"),
        "trash": [(item["id"], item["path"]) for item in owner.get("/api/drive/trash")["items"]],
        "conversations": [owner.get(f"/api/threads/{thread}") for thread in threads],
        "changes": owner.get("/api/drive/changes"),
        "memories": owner.get("/api/memories"),
        "approvals": owner.get("/api/approvals"),
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
    tmp_path: Path,
    stack: ExitStack,
    monkeypatch: pytest.MonkeyPatch,
    contents: str,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    before, url = fill(tmp_path / "data"), server().new_database()
    link = before.pop("link")
    caplog.clear()
    name(monkeypatch, tmp_path / "data", url, contents)
    assert main(["migrate"]) == 0, capsys.readouterr()
    assert "Copied and compared" in capsys.readouterr().out
    assert not [*(tmp_path / "data").glob(f"{migration.DRAFT}*")]
    options: dict[str, Any] = {"blob_url": contents} if contents else {}
    model = ScriptedChatModel(script=["Shared."])
    owner = serve(tmp_path / "data", stack, model, database_url=async_url(url), **options)
    assert "older copy" not in caplog.text
    assert told_by(owner) == before
    assert [fact["text"] for fact in before["memories"]["items"]] == ["I like tea"]
    assert owner.http.get(f"/api/links/{link}", headers={"Authorization": ""}).json()["name"] == "plan.md"
    (approval,) = before["approvals"]["items"]
    assert owner.answer(approval, "approve").status_code == 200
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


KILLED: Final = """
import os, signal
from api.cli import main
from api.cli.backups import migration
copied = migration._copy_schema
def killed(*arguments):
    copied(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
migration._copy_schema = killed
main(["migrate"])
"""
"""Ends when conversations are committed, and the drive's rows are sent and are not committed."""


def test_a_migration_that_is_killed_leaves_the_drive_as_it_is_and_may_be_made_again(
    tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "data"
    before, url = fill(root), server().new_database()
    del before["link"]
    name(monkeypatch, root, url)
    files = {file: file.read_bytes() for file in root.glob("*.db")}

    ended = subprocess.run([sys.executable, "-c", KILLED], check=False)

    assert ended.returncode == -signal.SIGKILL
    assert {file: file.read_bytes() for file in root.glob("*.db")} == files
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM nodes").fetchone() == (0,)
    assert [*root.glob(f"{migration.DRAFT}*")]
    assert main(["migrate"]) == 0, capsys.readouterr()
    assert not [*root.glob(f"{migration.DRAFT}*")]
    assert told_by(serve(root, stack, database_url=async_url(url))) == before


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
