from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import httpx
import pytest

from api.cli.client import ServiceClient
from api.cli.files.download import PARTIAL, Download, Source
from api.cli.importing import resumable, upload
from api.cli.terminal import Terminal
from drive_server.kernel.files.portable_names import portable_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from api.cli.failure import CommandError
    from tests.api.cli.files.conftest import Shell
    from tests.e2e.person import Person

BIG = bytes(range(256)) * 4000


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_goes_in_and_comes_out_again(shell: Shell, alice: Person) -> None:
    (shell.folder / "a.txt").write_text("hello")

    assert shell.done("put", "a.txt").out == "/a.txt  5 B, version 1\n"
    (shell.folder / "a.txt").unlink()
    assert shell.done("get", "/a.txt").out == "a.txt  5 B\n"

    assert (shell.folder / "a.txt").read_text() == "hello"
    assert alice.names() == ["a.txt"]


def test_several_files_go_into_a_folder_and_a_quoted_pattern_fetches_them(shell: Shell, alice: Person) -> None:
    folder = alice.folder("Invoices")
    for name in ("a.txt", "b.txt", "c.md"):
        (shell.folder / name).write_text(name)

    shell.done("put", "*.txt", "c.md", "/Invoices")
    assert sorted(alice.names(folder["id"])) == ["a.txt", "b.txt", "c.md"]
    (shell.folder / "out").mkdir()
    shell.done("get", "/Inv*/[ab].txt", "/**/c.md", "out")

    assert names_in(shell.folder / "out") == ["a.txt", "b.txt", "c.md"]


def test_folders_go_in_and_out_whole_with_r_and_not_without(shell: Shell, alice: Person) -> None:
    (shell.folder / "tree" / "sub").mkdir(parents=True)
    (shell.folder / "tree" / "sub" / "q.md").write_text("q")
    (shell.folder / "tree" / "z.txt").write_text("z")
    alice.folder("Target")

    refused = shell("put", "tree", "/Target")
    assert refused.code == 1
    assert refused.err == "drive-agent: tree is a folder.\nAdd -r to take it with all that is in it.\n"
    shell.done("put", "-r", "tree", "/Target")
    shell.done("put", "-r", "tree", "/Other")
    refused = shell("get", "/Target/tree", ".")
    assert refused.code == 1
    shell.done("get", "-r", "/Target/tree", "/Other", "--on-conflict", "replace", ".")

    for name in ("tree", "Other"):
        assert (shell.folder / name / "sub" / "q.md").read_text() == "q"
        assert (shell.folder / name / "z.txt").read_text() == "z"


def test_standard_input_becomes_a_file(shell: Shell, alice: Person) -> None:
    shell.done("put", "-", "/piped.bin", stdin=b"\x00\xff bytes")
    found = alice.http.get("/api/drive/items/%2Fpiped.bin").json()

    assert alice.http.get(f"/api/drive/files/{found['id']}/content").content == b"\x00\xff bytes"


def test_standard_input_needs_a_name(shell: Shell) -> None:
    shown = shell("put", "-", stdin=b"x")

    assert (shown.code, shown.err.splitlines()[0]) == (1, "drive-agent: Standard input has no name.")


@pytest.mark.parametrize("command", [("get", "/a.md", "-"), ("cat", "/a.md")])
def test_a_pipe_gets_the_bytes_as_they_are(shell: Shell, alice: Person, command: tuple[str, ...]) -> None:
    alice.upload("a.md", "# Heading\n\n**bold** \x1b[31m\n")

    shown = shell.done(*command)

    assert shown.out == "# Heading\n\n**bold** \x1b[31m\n"
    assert shown.err == ""


@pytest.mark.parametrize("policy", ["fail", "replace", "rename"])
def test_a_taken_name_is_handled_as_asked_for_on_both_sides(shell: Shell, alice: Person, policy: str) -> None:
    alice.upload("a.txt", "old")
    (shell.folder / "a.txt").write_text("new!")

    put = shell("put", "a.txt", "--on-conflict", policy)
    contents = {"fail": {"old"}, "replace": {"new!"}, "rename": {"old", "new!"}}[policy]
    assert {alice.content(item["id"]) for item in alice.children()} == contents
    got = shell("get", "/a.txt", "--on-conflict", policy)

    assert (put.code, got.code) == ((1, 1) if policy == "fail" else (0, 0))
    if policy == "fail":
        assert "is there already" in put.err
        assert put.err.endswith("Add --on-conflict replace, or --on-conflict rename.\n")
        assert got.err.startswith("drive-agent: a.txt is there already.")
    assert (shell.folder / "a (2).txt").exists() == (policy == "rename")


def test_the_same_content_is_no_conflict(shell: Shell, alice: Person) -> None:
    alice.upload("a.txt", "same")
    (shell.folder / "a.txt").write_text("same")

    assert shell.done("put", "a.txt").out == "/a.txt  4 B, version 1\n"


def test_a_file_that_is_not_there_is_a_sentence(shell: Shell) -> None:
    assert shell("put", "nope.txt").err == "drive-agent: nope.txt: it is not there (any more).\n"
    assert shell("get", "/nope.txt").err.startswith("drive-agent: /nope.txt: there is no such item")
    assert shell("get", "/no*").err.startswith("drive-agent: /no*: nothing matches.")


@pytest.mark.parametrize(("name", "local"), [("..", "_"), (".", "_"), ("a/b", "a_b"), ("报告.pdf", "报告.pdf")])
def test_a_name_of_the_drive_never_leads_out_of_the_folder(name: str, local: str) -> None:
    assert portable_name(name) == local


class Faults(httpx.BaseTransport):
    """Sends requests to the real service, and does to the answers what the test says."""

    def __init__(self, fault: Callable[[httpx.Request, httpx.Response], httpx.Response]) -> None:
        self._inner = httpx.HTTPTransport()
        self._fault = fault

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._fault(request, self._inner.handle_request(request))

    def close(self) -> None:
        self._inner.close()


def client_with(alice: Person, fault: Callable[[httpx.Request, httpx.Response], httpx.Response]) -> ServiceClient:
    def http() -> httpx.Client:
        return httpx.Client(base_url=alice.http.base_url, headers=alice.http.headers, transport=Faults(fault))

    return ServiceClient(http(), http)


class Cut(httpx.SyncByteStream):
    """The beginning of an answer's bytes; then the connection breaks."""

    def __init__(self, response: httpx.Response, size: int) -> None:
        self._response = response
        self._size = size

    def __iter__(self) -> Iterator[bytes]:
        assert isinstance(self._response.stream, httpx.SyncByteStream)
        yield b"".join(self._response.stream)[: self._size]
        raise httpx.ReadError("cut")

    def close(self) -> None:
        self._response.close()


def test_a_broken_download_goes_on_where_it_stopped(alice: Person, tmp_path: Path) -> None:
    item = alice.upload("big.bin", BIG)
    ranges: list[str] = []

    def fault(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        ranges.append(request.headers.get("range", ""))
        if len(ranges) <= 2:
            return httpx.Response(response.status_code, headers=response.headers, stream=Cut(response, 300_000))
        return response

    client = client_with(alice, fault)
    Download(client, Terminal(), "fail", pause=lambda _: None).fetch_all([(Source(item), tmp_path / "big.bin")])
    client.close()

    assert (tmp_path / "big.bin").read_bytes() == BIG
    assert ranges == ["", "bytes=300000-", "bytes=600000-"]
    assert names_in(tmp_path) == ["big.bin"]


def test_a_later_run_goes_on_with_what_an_earlier_one_fetched(shell: Shell, alice: Person) -> None:
    item = alice.upload("big.bin", BIG)
    partial = shell.folder / PARTIAL.format(key=Source(item).key)
    partial.write_bytes(BIG[:500_000])

    shown = shell.done("get", "/big.bin")

    assert "Going on after 500.0 kB." in shown.err
    assert (shell.folder / "big.bin").read_bytes() == BIG
    assert names_in(shell.folder) == ["big.bin"]


@pytest.mark.parametrize("left", [b"x" * 500_000, b"x" * len(BIG), b"x" * (len(BIG) + 5)])
def test_what_was_left_of_something_else_is_not_taken_for_the_content(shell: Shell, alice: Person, left: bytes) -> None:
    item = alice.upload("big.bin", BIG)
    (shell.folder / PARTIAL.format(key=Source(item).key)).write_bytes(left)

    shell.done("get", "/big.bin")

    assert hashlib.sha256((shell.folder / "big.bin").read_bytes()).digest() == hashlib.sha256(BIG).digest()


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "RESUMABLE_BYTES", 1000)
    monkeypatch.setattr(resumable, "PIECE_BYTES", 300_000)


@pytest.mark.usefixtures("small_pieces")
def test_a_big_file_is_sent_in_pieces_and_a_later_run_goes_on(
    shell: Shell, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shell.folder.parent / "data").mkdir()
    (shell.folder / "big.bin").write_bytes(BIG)
    sent: list[tuple[str, str]] = []
    send = ServiceClient.send

    def interrupted(self: ServiceClient, method: str, path: str, **options: object) -> httpx.Response:
        headers = options.get("headers")
        if isinstance(headers, dict) and method == "PATCH":
            sent.append((method, str(headers["Upload-Offset"])))
            if len(sent) == 3:
                raise KeyboardInterrupt
        return send(self, method, path, **options)

    monkeypatch.setattr(ServiceClient, "send", interrupted)
    assert shell("put", "big.bin").code == 1
    assert alice.names() == []
    shell.done("put", "big.bin")

    assert sent[:4] == [("PATCH", "0"), ("PATCH", "300000"), ("PATCH", "600000"), ("PATCH", "600000")]
    assert alice.http.get(f"/api/drive/files/{alice.children()[0]['id']}/content").content == BIG
    assert (shell.folder.parent / "data" / resumable.FILE_NAME).read_text() == "{}"


def at_once(failures: int, error: CommandError) -> None:
    """Try again without a pause."""
    del failures, error


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("lost", [0, 1, 2, 3])
def test_an_answer_that_is_lost_sends_no_byte_twice(alice: Person, tmp_path: Path, lost: int) -> None:
    (tmp_path / "big.bin").write_bytes(BIG)
    patches: list[str] = []

    def fault(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        if request.method == "PATCH":
            patches.append(request.headers["upload-offset"])
            if len(patches) - 1 == lost:
                response.close()
                raise httpx.ReadError("cut")
        return response

    client = client_with(alice, fault)
    place = resumable.UploadTarget(alice.root()["id"], "big.bin", "fail", "0")
    send = resumable.ResumableUpload(client, resumable.UnfinishedUploads(None), "key")
    counted: list[int] = []
    item = send.send(place, len(BIG), lambda at: iter([BIG[at:]]), counted.append, at_once)
    client.close()

    assert patches == ["0", "300000", "600000", "900000"]
    assert (item["size"], sum(counted)) == (len(BIG), len(BIG))
    assert alice.http.get(f"/api/drive/files/{item['id']}/content").content == BIG
