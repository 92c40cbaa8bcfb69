"""`drive-agent memory`: the same facts as in the chat, from the first to the last word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.api.cli.command import drive_agent

if TYPE_CHECKING:
    from pathlib import Path


def test_a_fact_is_told_listed_edited_and_forgotten(tmp_path: Path) -> None:
    settings = {"DRIVE_DATA_DIR": str(tmp_path / "data"), "DRIVE_EMBEDDING_MODEL": "none"}

    def run(*arguments: str) -> str:
        done = drive_agent(*arguments, settings=settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "李伟" in run("chat", "记住我的会计是李伟")
    (fact,) = json.loads(run("memory", "list", "--json"))
    assert fact["text"] == "我的会计是李伟"
    assert fact["id"] in run("memory", "edit", fact["id"], "我的会计是王芳")
    assert "我的会计是王芳" in run("memory", "list")
    assert "Forgotten" in run("memory", "forget", fact["id"])
    assert json.loads(run("memory", "list", "--json")) == []
    again = drive_agent("memory", "forget", "nosuch", settings=settings)
    assert again.returncode == 1
    assert "There is no such memory." in again.stderr
