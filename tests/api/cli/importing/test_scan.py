from __future__ import annotations

import os
import socket
import unicodedata
from typing import TYPE_CHECKING

import pytest

from api.cli.failure import CommandError
from api.cli.importing.scan import Scan, decoded, importable_name, scan
from api.cli.texts import text
from tests.api.cli.ordinary_user import as_ordinary_user, folder_for_all

if TYPE_CHECKING:
    from pathlib import Path


def files_of(found: Scan) -> dict[str, str]:
    return {file.shown: file.name for folder in found.folders for file in folder.files}


def remarks(found: Scan) -> dict[str, str]:
    return {remark.shown: remark.reason for remark in found.skipped + found.failed}


def test_files_and_folders_are_found_in_order_with_parents_first(tmp_path: Path) -> None:
    for name in ("b/inner/deep.txt", "a.txt", "b/c.txt", "空 📁/文件.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "nothing in it").mkdir()
    found = scan(tmp_path, tmp_path / "absent")
    assert [folder.shown for folder in found.folders] == ["", "b", "b/inner", "nothing in it", "空 📁"]
    assert list(files_of(found)) == ["a.txt", "b/c.txt", "b/inner/deep.txt", "空 📁/文件.md"]
    assert found.total_bytes == sum(len(name.encode()) for name in files_of(found))
    assert not remarks(found)


def test_links_are_left_out_and_never_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "round").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "to file").symlink_to(tmp_path / "file")
    (tmp_path / "to nothing").symlink_to(tmp_path / "absent")
    found = scan(tmp_path, tmp_path / "absent")
    assert list(files_of(found)) == ["file"]
    assert remarks(found) == dict.fromkeys(("round", "to file", "to nothing"), text("is_link"))
    assert not found.failed


def test_pipes_and_sockets_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    assert remarks(scan(tmp_path, tmp_path / "absent")) == dict.fromkeys(("pipe", "socket"), text("is_special"))


def test_a_folder_that_may_not_be_read_is_a_failure_and_the_rest_is_found() -> None:
    with folder_for_all() as folder:
        (folder / "closed").mkdir(mode=0o000)
        (folder / "open.txt").write_text("x")
        with as_ordinary_user():
            found = scan(folder, folder / "absent")
    assert list(files_of(found)) == ["open.txt"]
    assert [(remark.shown, remark.reason) for remark in found.failed] == [("closed", "no permission to read it")]


def test_the_drive_does_not_import_itself(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "drive.db").write_text("x")
    found = scan(tmp_path, tmp_path / "data")
    assert remarks(found) == {"data": text("is_own_data")}
    assert not files_of(found)


def test_names_in_another_form_or_of_broken_bytes_are_imported_under_a_name_of_their_own(tmp_path: Path) -> None:
    (tmp_path / unicodedata.normalize("NFC", "é.txt")).write_text("composed")
    (tmp_path / unicodedata.normalize("NFD", "é.txt")).write_text("decomposed")
    (tmp_path / unicodedata.normalize("NFD", "ü.txt")).write_text("alone")
    broken = os.path.join(os.fsencode(tmp_path), b"caf\xe9.txt")  # noqa: PTH118 - a Path can't hold these bytes
    os.close(os.open(broken, os.O_CREAT | os.O_WRONLY))
    found = scan(tmp_path, tmp_path / "absent")
    names = [file.name for folder in found.folders for file in folder.files]
    assert sorted(names) == sorted(["é.txt", "é (2).txt", "ü.txt", "caf\ufffd.txt"])
    assert sorted(remark.reason for remark in found.renamed) == [
        "imported as caf\ufffd.txt",
        "imported as é (2).txt",
    ]


def test_what_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="can't be imported: it is"):
        scan(tmp_path / "absent", tmp_path / "data")


def test_a_file_is_scanned_alone(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "other.txt").write_text("y")

    found = scan(tmp_path / "file.txt", tmp_path / "data")

    assert [(folder.name, [file.name for file in folder.files]) for folder in found.folders] == [("", ["file.txt"])]
    assert (found.file_count, found.total_bytes) == (1, 1)


@pytest.mark.parametrize(
    "name",
    ["plan.md", "报告 2026.docx", "👩‍👧 family.png", "مرحبا.txt", ".hidden", "a" * 255, "e\u0301.txt"],
)
def test_a_name_that_the_drive_takes_is_kept_in_nfc(name: str) -> None:
    assert importable_name(name, ()) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("a\nb.txt", "a_b.txt"),
        ("back\\slash.txt", "back_slash.txt"),
        ("bell\x07", "bell_"),
        ("evil\u202etxt.exe", "evil_txt.exe"),
        (" spaces ", "spaces"),
        (" ", "_"),
        (b"caf\xe9.txt".decode("utf-8", "surrogateescape"), "caf\ufffd.txt"),
    ],
)
def test_a_name_that_the_drive_refuses_is_replaced_by_one_like_it(raw: str, name: str) -> None:
    assert importable_name(raw, ()) == name


def test_a_name_that_is_too_long_is_cut_between_characters_and_keeps_its_suffix() -> None:
    name = importable_name("报" * 100 + ".markdown", ())
    assert name.endswith("报.markdown")
    assert 250 < len(name.encode()) <= 255


def test_the_same_name_in_two_forms_becomes_two_names() -> None:
    first = importable_name("é.txt", ())
    second = importable_name("e\u0301.txt", {first})
    assert (first, second) == ("é.txt", "é (2).txt")
    assert importable_name("é.txt", {first, second}) == "é (3).txt"
    assert importable_name("a" * 255, {"a" * 255}) == "a" * 251 + " (2)"


def test_bytes_that_are_no_text_are_shown_as_unreadable() -> None:
    assert decoded(b"\xff\xfe".decode("utf-8", "surrogateescape")) == "\ufffd\ufffd"
