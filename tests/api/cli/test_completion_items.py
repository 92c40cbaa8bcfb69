"""Ask for the paths of the drive as the shells do, in this process."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import pytest

from api.cli import main
from api.cli.completion import items
from tests.api.cli.command import drive_agent

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Person
    from tests.e2e.service import Service


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the answer of a busy machine."""
    monkeypatch.setattr(items, "SECONDS", 60)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory, in which no service runs."""
    data = tmp_path / "data"
    monkeypatch.setenv("DRIVE_DATA_DIR", str(data))
    return data


def offered(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Return the lines for the words of a line, the last of which is to be completed."""
    assert main(["completion", "bash", "drive-agent", *words]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out.splitlines()


def test_a_word_goes_on_to_the_items_whose_names_begin_so(
    service: Service, alice: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = alice.folder("Réports")
    alice.folder("Reviews")
    alice.upload("Rest: 报告.txt", "x", folder["id"])
    alice.upload("-r.txt", "x")
    line = ["cat", "--url", service.url, f"--token={alice.token}", "--json", "--"]

    assert offered(capsys, *line, "") == ["/Reviews/", "/Réports/", "/-r.txt"]
    assert offered(capsys, *line, "/Re") == ["/Reviews/"]
    assert offered(capsys, *line, "/Réports/R") == ["/Réports/Rest: 报告.txt"]
    assert offered(capsys, *line, "/Re\u0301") == ["/Re\u0301ports/"]
    assert offered(capsys, *line, "/None/a") == offered(capsys, *line, "/-r.txt/") == offered(capsys, *line, "Re") == []


def test_no_more_paths_are_told_than_a_person_reads(
    service: Service, alice: Person, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        alice.folder(f"Folder {number}")
    monkeypatch.setattr(items, "MAX_PATHS", 2)

    found = offered(capsys, "ls", "--url", service.url, "--token", alice.token, "/F")

    assert found == ["/Folder 0/", "/Folder 1/"]


def test_the_service_is_the_one_of_the_environment_or_the_one_that_runs_here(
    service: Service, alice: Person, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.folder("Of Alice")
    monkeypatch.setenv("DRIVE_AGENT_URL", service.url)
    monkeypatch.setenv("DRIVE_AGENT_TOKEN", alice.token)
    assert offered(capsys, "ls", "/Of") == ["/Of Alice/"]

    monkeypatch.delenv("DRIVE_AGENT_URL")
    monkeypatch.setenv("DRIVE_DATA_DIR", str(service.data_dir))
    assert offered(capsys, "ls", "/Of") == ["/Of Alice/"]


def test_without_a_service_nothing_is_told_and_none_is_started(elsewhere: Path) -> None:
    result = drive_agent("completion", "bash", "drive-agent", "ls", "/", settings={"DRIVE_DATA_DIR": str(elsewhere)})

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert not elsewhere.exists()


@pytest.mark.parametrize(
    "address",
    [
        ["--url", "http://127.0.0.1:1", "--token", "t"],
        ["--url", "http://elsewhere.example"],
        ["--url", "no address", "--token", "t"],
        ["--config", "missing.env"],
        ["--token", "ключ"],
        ["--url"],
    ],
    ids=" ".join,
)
def test_an_address_that_leads_nowhere_is_no_error(address: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert offered(capsys, "ls", *address, "/") == []


def test_a_wrong_key_is_no_error(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    assert offered(capsys, "ls", "--url", service.url, "--token", "wrong", "/") == []


def test_a_service_that_does_not_answer_is_not_waited_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert offered(capsys, "ls", "--url", url, "--token", "t", "/") == []
    assert time.monotonic() - began < 5
