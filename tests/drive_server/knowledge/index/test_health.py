"""Requests about the index that several processes make at the same moment: none is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from drive_server.knowledge.index.health import IndexHealth, Request


@pytest.fixture(name="path")
def path_of_health(tmp_path: Path) -> Path:
    return tmp_path / "index.health"


def just_before(monkeypatch: pytest.MonkeyPatch, name: str, act: Any) -> None:
    """Have something happen once, just before a file is written or removed."""
    work, done = getattr(Path, name), list[bool]()

    def both(self: Path, *arguments: Any, **options: Any) -> Any:
        if not done and "r" not in str(options.get("mode", arguments[0] if arguments else "")):
            done.append(True)
            act()
        return work(self, *arguments, **options)

    monkeypatch.setattr(Path, name, both)


def test_a_failing_search_never_takes_a_rebuild_back_that_another_process_asks_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = IndexHealth(path), IndexHealth(path)
    with monkeypatch.context() as patched:
        just_before(patched, "open", lambda: theirs.request("rebuild"))
        ours.request("inspect")

    assert ours.take_request() == "rebuild"
    assert ours.take_request() == ""


def test_a_request_that_comes_while_another_is_taken_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, other = IndexHealth(path), IndexHealth(path)
    other.request("inspect")
    taken: list[Request] = []
    with monkeypatch.context() as patched:
        just_before(patched, "unlink", lambda: other.request("rebuild"))
        taken.append(writer.take_request())

    assert [*taken, writer.take_request()] in (["inspect", "rebuild"], ["rebuild", ""])


@pytest.mark.parametrize("stored", ["", "folder"])
def test_requests_of_one_process_alone_are_taken_once(path: Path, stored: str) -> None:
    health = IndexHealth(path if stored else None)
    health.request("inspect")
    health.request("rebuild")
    health.request("inspect")

    assert health.take_request() == "rebuild"
    assert health.take_request() == ""
