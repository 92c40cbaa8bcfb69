"""Exports that somebody changed: no file outside is read, no link followed, and no list fills the memory."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from api.cli import main
from api.cli.exports.command import pack
from api.cli.exports.contents import Contents
from api.cli.exports.format import bounds
from api.cli.exports.format.bounds import TooLongError
from api.cli.exports.format.manifest import FORMAT, MANIFEST, SUMS, Header, read_entries, read_header, write_manifest
from api.cli.exports.format.reader import FolderFiles, ZipFiles, is_export, opened_export
from api.cli.exports.format.sums import Sums, read_sums
from drive_server.kernel.files.inner_paths import OuterPathError
from tests.hostile_names import OUTER

if TYPE_CHECKING:
    from pathlib import Path

SECRET = b"outside"
MEGABYTE = 1 << 20


def item(path: str) -> dict[str, Any]:
    at = "2026-01-01T00:00:00+00:00"
    version = {"number": 1, "sha256": hashlib.sha256(SECRET).hexdigest(), "size": len(SECRET), "path": path}
    version |= {"media_type": "text/plain", "created_at": at, "modified_at": at}
    known = {"id": "i", "parent_id": None, "name": "a.txt", "kind": "file", "trash_id": None, "versions": [version]}
    return {**known, "shares": [], "links": [], "starred_at": None, "created_at": at, "updated_at": at}


def make_export(root: Path, path: str) -> Path:
    """Make an export whose lists name a path."""
    root.mkdir(parents=True)
    header = Header("e", "2026-01-01T00:00:00", "2026-01-01T00:00:00", "a@b.c", {"files": 1, "folders": 0})
    body = io.StringIO()
    write_manifest(body, header, [item(path)], [])
    (root / MANIFEST).write_bytes(body.getvalue().replace("\ud800", "\\ud800").encode())
    line = f"{hashlib.sha256(SECRET).hexdigest()}  {path}\n"
    (root / SUMS).write_bytes(line.encode("utf-8", "surrogatepass"))
    return root


@pytest.mark.parametrize("path", OUTER)
def test_an_export_that_names_what_is_outside_is_not_whole(tmp_path: Path, path: str) -> None:
    for folder in (tmp_path, tmp_path / "a", tmp_path / "a" / "b"):
        folder.mkdir(exist_ok=True)
        (folder / "x").write_bytes(SECRET)
    root = make_export(tmp_path / "a" / "b" / "export", path)

    assert main(["export", "--verify", str(root)]) == 1
    with opened_export(root) as export, pytest.raises(OuterPathError):
        export.files.open(path)


@pytest.mark.parametrize("path", [path for path in OUTER if path != "\ud800"])
def test_a_zip_file_gives_no_member_of_such_a_name(path: str) -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr("a", b"x")
        archive.filelist[0].filename = path
        archive.NameToInfo[path] = archive.filelist[0]
        with pytest.raises(OuterPathError):
            ZipFiles(archive).open(path)


def test_a_link_in_a_zip_file_is_no_file() -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        link = zipfile.ZipInfo("Files/a.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("Files/b.txt", "plain")
    with zipfile.ZipFile(body) as archive:
        with pytest.raises(OuterPathError):
            ZipFiles(archive).open("Files/a.txt")
        assert ZipFiles(archive).open("Files/b.txt").read() == b"plain"


@pytest.mark.parametrize("place", ["Files", "Files/deep", "Files/deep/a.txt"])
def test_a_linked_folder_or_file_in_an_export_is_not_followed(tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    for folder in (outside, outside / "deep"):
        (folder / "a.txt").write_bytes(SECRET)
    root = make_export(tmp_path / "export", "Files/deep/a.txt")
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    targets = {"Files": outside, "Files/deep": outside / "deep", "Files/deep/a.txt": outside / "a.txt"}
    (root / place).symlink_to(targets[place])

    assert main(["export", "--verify", str(root)]) == 1
    with pytest.raises(OuterPathError):
        FolderFiles(root).open("Files/deep/a.txt")


@pytest.mark.parametrize("path", [*(path for path in OUTER if path), "linked/x"])
def test_an_export_writes_nothing_outside(tmp_path: Path, path: str) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (root / "linked").symlink_to(outside)
    nobody: Any = None
    contents = Contents(nobody, root, lambda _: None)

    with pytest.raises(OuterPathError):
        contents.put((path, "0" * 64, 1, "2026-01-01T00:00:00+00:00"))
    with pytest.raises(OuterPathError):
        Sums(io.StringIO()).write(root, path, b"x")
    assert list(outside.iterdir()) == []


def test_a_zip_file_takes_no_link_along(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(SECRET)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    (folder / "link").symlink_to(tmp_path / "secret")
    pack(folder, tmp_path / "made.zip")

    with zipfile.ZipFile(tmp_path / "made.zip") as archive:
        assert archive.namelist() == ["a.txt"]


MEASURES = """
import resource, sys
from api.cli import main
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
@pytest.mark.parametrize("layout", ["one line", "pretty", "an entry"])
def test_a_manifest_of_300_megabytes_is_refused_within_little_memory(tmp_path: Path, layout: str) -> None:
    root = make_export(tmp_path / "export", "Files/a.txt")
    long = "x" * (300 * MEGABYTE)
    head = json.dumps({"format": FORMAT, "schema_version": 1, "export_id": "e"})[:-1]
    text = {"one line": f'{head}, "owner": "{long}"}}', "pretty": f'{{\n{head[1:]}, "owner":\n"{long}"}}'}
    if layout == "an entry":
        written = (root / MANIFEST).read_text()
        (root / MANIFEST).write_text(written.replace('"a.txt"', f'"{long}"'))
    else:
        (root / MANIFEST).write_text(text[layout])
    command = [sys.executable, "-c", MEASURES, str(900 * MEGABYTE), "export", "--verify", str(root)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 1
    assert "is larger than this program reads" in run.stderr
    assert "Traceback" not in run.stderr


def test_lists_are_read_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_LINE_BYTES", 100)
    sums = b"0" * 64 + b"  " + b"x" * 100 + b"\n"
    with pytest.raises(TooLongError):
        list(read_sums(io.BytesIO(sums)))
    monkeypatch.setattr(bounds, "MAX_LIST_BYTES", 150)
    with pytest.raises(TooLongError):
        list(read_sums(io.BytesIO((b"0" * 64 + b"  a\n") * 3)))


def test_a_manifest_within_the_bounds_reads_as_before(tmp_path: Path) -> None:
    root = make_export(tmp_path / "export", "Files/a.txt")
    with (root / MANIFEST).open("rb") as file:
        assert read_header(file)["export_id"] == "e"
        file.seek(0)
        assert [entry["id"] for entry in read_entries(file, "items")] == ["i"]


def test_a_large_file_of_that_name_that_is_no_export_makes_none_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{" + "x" * (20 * MEGABYTE))
    assert not is_export(tmp_path)
