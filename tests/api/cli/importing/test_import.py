from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.cli import client, main
from api.cli.client import ServiceClient
from api.cli.failure import LostConnectionError
from api.cli.importing.command import Importer, ImportReport
from api.cli.importing.scan import scan
from api.cli.terminal import Terminal
from tests.api.cli.command import COMMAND, environment
from tests.api.cli.cutting_proxy import cutting_proxy
from tests.api.cli.mixed_folder import BIG_BYTES, make_mixed_folder
from tests.api.cli.ordinary_user import NOBODY, folder_for_all

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Person
    from tests.e2e.service import Service

# The interpreter's own files may be closed to other users, so everything is loaded before root's rights are given up.
PROGRAM = """
import os, sys
import api.cli, api.cli.exports.restore
import api.cli.importing.command, api.cli.importing.upload, encodings.idna, rich.progress
if os.geteuid() == 0:
    os.seteuid(int(sys.argv[1]))
sys.exit(api.cli.main(sys.argv[2:]))
"""
AS_NOBODY = (sys.executable, "-c", PROGRAM, str(NOBODY))


def run_import(
    service: Service, person: Person, *arguments: str, url: str = "", command: tuple[str, ...] = (str(COMMAND),)
) -> subprocess.CompletedProcess[str]:
    token = person.token
    settings = {"DRIVE_AGENT_URL": url or service.url, "DRIVE_AGENT_TOKEN": token, "DRIVE_DATA_DIR": "/nonexistent"}
    return subprocess.run(
        [*command, "import", *arguments],
        env=environment(settings),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def tree(person: Person, folder_id: str = "root", path: str = "") -> dict[str, dict[str, Any]]:
    """Return all items below a folder by their path."""
    found: dict[str, dict[str, Any]] = {}
    for item in person.children(folder_id):
        below = f"{path}{item['name']}"
        found[below] = item
        if item["kind"] == "folder":
            found |= tree(person, item["id"], f"{below}/")
    return found


def test_a_mixed_folder_comes_in_whole_and_what_could_not_is_told_with_its_reason(
    service: Service, alice: Person
) -> None:
    with folder_for_all() as folder:
        expected = make_mixed_folder(folder)
        result = run_import(service, alice, str(folder), "--into", "/Garden/2026", command=AS_NOBODY)
        again = run_import(service, alice, str(folder), "--into", "/Garden/2026", "--no-wait", command=AS_NOBODY)
    imported = tree(alice, alice.get("/api/drive/items/%2FGarden%2F2026")["id"])
    files = {path: item for path, item in imported.items() if item["kind"] == "file"}
    assert set(files) == set(expected)
    assert {path for path, item in imported.items() if item["kind"] == "folder"} == {"notes", "中文", "nothing in it"}
    for path, item in files.items():
        content = alice.http.get(f"/api/drive/files/{item['id']}/content").content
        assert content == expected[path], path
    assert files["big.bin"]["size"] == BIG_BYTES

    assert result.returncode == 1
    assert "1 could not be imported" in result.stderr
    assert "  secret.txt: no permission to read it" in result.stdout
    assert "  link to readme: a symbolic link" in result.stdout
    assert "  pipe: neither a file nor a folder" in result.stdout
    assert f"Imported {len(expected)} files" in result.stdout
    unreadable = result.stdout.partition("could not (or not wholly) be read")[2]
    assert "picture.png" in unreadable
    assert "plan.md" not in unreadable
    assert "Traceback" not in result.stderr

    assert f"{len(expected)} files unchanged" in again.stdout
    assert "Imported 0 files" in again.stdout
    assert {item["version"] for item in tree(alice).values() if item["kind"] == "file"} == {1}


def test_a_folder_is_named_like_itself_and_a_changed_file_becomes_a_new_version(
    service: Service, alice: Person, tmp_path: Path
) -> None:
    source = tmp_path / "Notizen 📁"
    source.mkdir()
    (source / "a.txt").write_text("one")
    (source / "b.txt").write_text("same")
    assert run_import(service, alice, str(source), "--no-wait").returncode == 0
    (source / "a.txt").write_text("two")
    result = run_import(service, alice, str(source), "--no-wait")
    assert result.returncode == 0, result.stderr
    assert "a.txt: was there with other content" in result.stdout
    imported = tree(alice)
    assert {path: item.get("version") for path, item in imported.items() if item["kind"] == "file"} == {
        "Notizen 📁/a.txt": 2,
        "Notizen 📁/b.txt": 1,
    }


def test_a_file_comes_in_beside_a_folder_of_its_name(service: Service, alice: Person, tmp_path: Path) -> None:
    alice.folder("plan")
    alice.upload("notes", "a file where a folder will come")
    (tmp_path / "plan").write_text("a file")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("a")
    result = run_import(service, alice, str(tmp_path), "--into", "/", "--no-wait")
    assert result.returncode == 0, result.stderr
    assert sorted(tree(alice)) == ["notes", "notes (2)", "notes (2)/a.txt", "plan", "plan (2)"]
    assert "plan: imported as plan (2)" in result.stdout
    assert "notes: imported as notes (2)" in result.stdout


def test_an_answer_that_is_lost_doubles_nothing(service: Service, alice: Person, tmp_path: Path) -> None:
    expected = {"Proxied", "Proxied/sub"}
    (tmp_path / "sub").mkdir()
    for name in [f"{number}.txt" for number in range(4)] + [f"sub/{number}.txt" for number in range(4)]:
        (tmp_path / name).write_text(f"file {name}")
        expected.add(f"Proxied/{name}")
    with cutting_proxy(service.url, cuts=6) as proxy:
        result = run_import(service, alice, str(tmp_path), "--into", "/Proxied", "--no-wait", url=proxy.url)
        assert proxy.cuts_left == 0
    assert result.returncode == 0, result.stderr
    assert "Imported 8 files" in result.stdout
    imported = tree(alice)
    assert set(imported) == expected
    assert {item["version"] for item in imported.values() if item["kind"] == "file"} == {1}


def test_a_file_that_never_gets_through_does_not_stop_the_import(
    service: Service, alice: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    found = scan(tmp_path, tmp_path / "absent")
    report = ImportReport(found)
    with cutting_proxy(service.url, cuts=1000, every=True) as proxy:
        http = httpx.Client(base_url=proxy.url, headers=alice.http.headers)
        client = ServiceClient(http, lambda: http)
        Importer(client, Terminal(), report, pause=lambda _: None).run(found, "/")
        client.close()
    report.print(Terminal(), "/")
    assert {remark.shown for remark in report.failures} == {"a.txt", "b.txt"}
    assert capsys.readouterr().out.count("The connection to the service broke.") == 2


def test_a_service_that_starts_again_while_the_import_waits_for_the_index_costs_only_time(
    service: Service, alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("a")
    answer, breaks = ServiceClient.get, [LostConnectionError.of("broken"), LostConnectionError.of("broken")]

    def answer_later(client: ServiceClient, path: str, **options: Any) -> Any:
        if path == "/api/drive/index" and breaks:
            raise breaks.pop()
        return answer(client, path, **options)

    monkeypatch.setattr(ServiceClient, "get", answer_later)
    monkeypatch.setattr(client, "FIRST_PAUSE_SECONDS", 0)
    monkeypatch.setenv("DRIVE_DATA_DIR", str(tmp_path / "none"))
    address = ["--url", service.url, "--token", alice.token]
    assert main(["import", str(tmp_path), "--into", "/Later", *address]) == 0
    assert not breaks


def test_a_service_that_is_gone_ends_the_import(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    found = scan(tmp_path, tmp_path / "absent")
    http = httpx.Client(base_url="http://127.0.0.1:9")
    client = ServiceClient(http, lambda: http)
    with pytest.raises(LostConnectionError, match="can't be reached"):
        Importer(client, Terminal(), ImportReport(found), pause=lambda _: None).run(found, "/")
    client.close()


def test_a_single_file_is_imported_under_its_name(service: Service, alice: Person, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")

    result = run_import(service, alice, str(tmp_path / "a.txt"), "--no-wait")

    assert result.stdout.startswith("Imported 1 file (1 B) into / in ")
    assert list(tree(alice)) == ["a.txt"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["/nonexistent/folder"], "can't be imported: it is not there"),
        (["{folder}", "--into", "/taken.txt"], "/taken.txt is a file"),
        (["{folder}", "--into", "/a\x01b"], "control character"),
    ],
)
def test_what_cannot_be_imported_at_all_is_a_sentence(
    service: Service, alice: Person, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    alice.upload("taken.txt", "x")
    (tmp_path / "file").write_text("x")
    filled = [word.format(file=tmp_path / "file", folder=tmp_path) for word in arguments]
    result = run_import(service, alice, *filled)
    assert result.returncode == 1
    assert sentence in result.stderr
    assert list(tree(alice)) == ["taken.txt"]


def test_a_key_that_may_not_write_imports_nothing_and_says_so(service: Service, alice: Person, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    with closing(alice.with_key("reader", "read")) as reader:
        result = run_import(service, reader, str(tmp_path), "--into", "/")
    assert result.returncode == 1
    assert "This key lacks the scope 'write'." in result.stderr
    assert list(tree(alice)) == []
