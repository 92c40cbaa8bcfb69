"""The job that asks for advisories fails on a finding, and on nothing else."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.packages import advisories
from tests.packages.lists import Package

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


@contextmanager
def answering(answer: Callable[[list[dict[str, Any]]], bytes]) -> Generator[str]:
    """Serve the queries of OSV with what `answer` makes of them, and give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/querybatch"
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["queries"]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer(asked))

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def nothing(asked: list[dict[str, Any]]) -> bytes:
    return json.dumps({"results": [{} for _ in asked]}).encode()


def fastapi_is_weak(asked: list[dict[str, Any]]) -> bytes:
    found = [{"vulns": [{"id": "GHSA-x"}]} if one["package"]["name"] == "fastapi" else {} for one in asked]
    return json.dumps({"results": found}).encode()


def run(url: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("OSV_URL", url)
    return advisories.main()


def test_a_weakness_fails_and_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(fastapi_is_weak) as url:
        assert run(url, monkeypatch) == 1
    said = capsys.readouterr().out
    assert "fastapi" in said
    assert "GHSA-x" in said


def test_an_accepted_one_and_none_at_all_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(nothing) as url:
        assert run(url, monkeypatch) == 0
    monkeypatch.setattr(advisories, "ACCEPTED", {"GHSA-x": "It is not called."})
    with answering(fastapi_is_weak) as url:
        assert run(url, monkeypatch) == 0
    assert "0 with known weaknesses" in capsys.readouterr().out


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[]", b"{}", b'{"results": [{}]}', b'{"results": 7}'])
def test_without_an_answer_it_says_that_nobody_was_asked(
    answer: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(lambda _: answer) as url:
        assert run(url, monkeypatch) == 0
    assert "not asked" in capsys.readouterr().out


def test_without_a_network_it_says_so_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(nothing) as url:
        pass
    assert run(url, monkeypatch) == 0
    assert "not asked" in capsys.readouterr().out


def test_all_packages_are_asked_about_in_parts() -> None:
    packages = [Package("PyPI", f"p{number}", "1") for number in range(advisories.AT_ONCE + 7)]
    asked: list[int] = []

    def count(queries: list[dict[str, Any]]) -> bytes:
        asked.append(len(queries))
        return nothing(queries)

    with answering(count) as url:
        assert advisories.ask(url, packages) == {}
    assert asked == [advisories.AT_ONCE, 7]
