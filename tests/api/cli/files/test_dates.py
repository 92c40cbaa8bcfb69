"""Files keep their dates on the way into the drive and out of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from api.cli.importing import upload

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.cli.files.conftest import Shell
    from tests.e2e.person import Person

THEN = 981169506
NANOSECONDS = THEN * 10**9 + 123_456_000


def old(folder: Path, name: str, content: str = "old", at: int = NANOSECONDS) -> Path:
    """Make a file of 2001."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    os.utime(path, ns=(at, at))
    return path


@pytest.mark.parametrize("pieces", [1, 1 << 30])
def test_put_and_get_keep_the_date_of_a_file(
    shell: Shell, alice: Person, pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "RESUMABLE_BYTES", pieces)
    old(shell.folder, "old.txt")
    shell.done("put", "old.txt")
    (item,) = alice.children()
    assert item["modified_at"] == "2001-02-03T03:05:06.123456Z"
    assert item["updated_at"] > "2026"
    shell.done("get", "/old.txt", "back.txt")
    assert (shell.folder / "back.txt").stat().st_mtime == pytest.approx(THEN + 0.123456)
    assert "2001-02-03" in shell.done("ls").out


def test_a_file_of_before_1970_is_no_exception(shell: Shell, alice: Person) -> None:
    old(shell.folder, "old.txt", at=-157766400 * 10**9)
    shell.done("put", "old.txt")
    assert alice.children()[0]["modified_at"] == "1965-01-01T00:00:00Z"
    shell.done("get", "/old.txt", "back.txt")
    assert (shell.folder / "back.txt").stat().st_mtime == -157766400


def test_a_folder_comes_in_and_out_with_the_dates_of_its_files(shell: Shell, alice: Person) -> None:
    old(shell.folder, "archive/old.txt")
    shell.done("import", "archive", "--into", "/f")
    (top,) = alice.children()
    (file,) = [item for item in alice.children(top["id"]) if item["kind"] == "file"]
    assert file["modified_at"].startswith("2001-02-03")
    shell.done("get", "-r", "/f", "back")
    assert (shell.folder / "back" / "old.txt").stat().st_mtime == pytest.approx(THEN + 0.123456)


def test_an_earlier_version_comes_with_its_own_date(shell: Shell) -> None:
    old(shell.folder, "a.txt", "one")
    shell.done("put", "a.txt")
    (shell.folder / "a.txt").write_text("two")
    shell.done("put", "a.txt", "--on-conflict", "replace")
    shell.done("versions", "get", "/a.txt", "1", "first.txt")
    assert (shell.folder / "first.txt").stat().st_mtime == pytest.approx(THEN + 0.123456)


def test_names_that_windows_refuses_are_replaced_and_no_file_is_lost(shell: Shell, alice: Person) -> None:
    place = alice.folder("CON")
    for name in ("a*b?.txt", "a_b_.txt", "NUL.tar.gz", "minutes: final.txt", "Größe 报告 🎉.txt"):
        alice.upload(name, name, place["id"])
    shell.done("get", "-r", "/CON", ".")
    assert {path.name: path.read_text() for path in (shell.folder / "CON_").iterdir()} == {
        "a_b_ (2).txt": "a*b?.txt",
        "a_b_.txt": "a_b_.txt",
        "NUL_.tar.gz": "NUL.tar.gz",
        "minutes_ final.txt": "minutes: final.txt",
        "Größe 报告 🎉.txt": "Größe 报告 🎉.txt",
    }


def test_a_search_is_limited_to_dates(shell: Shell) -> None:
    old(shell.folder, "plan old.txt")
    (shell.folder / "plan new.txt").write_text("new")
    shell.done("put", "plan old.txt", "plan new.txt", "/")
    found = shell.done("search", "plan", "--modified-before", "2002-01-01", "--json").json
    assert [hit["file"]["name"] for hit in found] == ["plan old.txt"]
    found = shell.done("search", "plan", "--modified-after", "2002-01-01", "--json").json
    assert [hit["file"]["name"] for hit in found] == ["plan new.txt"]
    assert shell("search", "plan", "--modified-after", "soon").code == 1


def test_files_of_a_year_are_listed_without_a_query(shell: Shell, alice: Person) -> None:
    old(shell.folder, "old.txt")
    (shell.folder / "new.txt").write_text("new")
    shell.done("put", "old.txt")
    shell.done("put", "new.txt")
    assert len(alice.children()) == 2
    found = shell.done("search", "--modified-after", "2001-01-01", "--modified-before", "2002-01-01").out
    assert "/old.txt" in found
    assert "/new.txt" not in found
    assert "/new.txt" in shell.done("search", "--kind", "file", "--type", "text", "--belongs-to", "me").out
    refused = shell("search")
    assert (refused.code, "nothing to search for" in refused.err) == (1, True)
