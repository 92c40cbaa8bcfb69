from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from api.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Person
    from tests.e2e.service import Service


@dataclass(frozen=True, slots=True)
class Shown:
    """What a command left: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """Runs commands against the service as one person, in a folder of their own."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._patch = patch
        self._captured = captured

    def __call__(self, *words: str, stdin: bytes = b"") -> Shown:
        """Run `drive-agent` with these words in this process."""
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = main(words)
        shown = self._captured.readouterr()
        return Shown(code, shown.out, shown.err)

    def done(self, *words: str, stdin: bytes = b"") -> Shown:
        """Run a command that has to go well."""
        shown = self(*words, stdin=stdin)
        assert shown.code == 0, shown
        return shown

    def speaks(self, language: str) -> None:
        """Set the language of the terminal."""
        self._patch.setenv("LC_ALL", language)


@pytest.fixture
def shell(
    service: Service,
    alice: Person,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    home = tmp_path / "here"
    home.mkdir()
    monkeypatch.chdir(home)
    settings = {
        "DRIVE_AGENT_URL": service.url,
        "DRIVE_AGENT_TOKEN": alice.token,
        "DRIVE_DATA_DIR": str(tmp_path / "data"),
        "LC_ALL": "C.UTF-8",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return Shell(home, monkeypatch, capsys)
