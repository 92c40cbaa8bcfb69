"""`drive-agent memory`: the same facts as in the chat, from the first to the last word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.e2e.service import Service


def test_a_fact_is_told_listed_edited_and_forgotten(service: Service) -> None:
    def run(*arguments: str) -> str:
        done = service.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "李伟" in run("chat", "记住我的会计是李伟")
    (fact,) = json.loads(run("memory", "list", "--json"))
    assert fact["text"] == "我的会计是李伟"
    assert fact["id"] in run("memory", "edit", fact["id"], "我的会计是王芳")
    assert "我的会计是王芳" in run("memory", "list")
    assert "Forgotten" in run("memory", "forget", fact["id"])
    assert json.loads(run("memory", "list", "--json")) == []
    again = service.run("memory", "forget", "nosuch")
    assert again.returncode == 1
    assert "There is no such memory." in again.stderr
