"""The doctor tries what the service depends on, and says what to do about what fails."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import httpx
import pytest

from api.cli.commands import content_checks, model_checks
from api.cli.commands.content_checks import check_contents
from api.cli.commands.model_checks import check_answer
from api.cli.texts import TEXTS, hint_of
from graph.settings import AgentSettings
from tests.api.cli.command import drive_agent
from tests.fakes.openai_server import Failure, OpenAIServer, Stream, running_server, text

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.e2e.service import Service


@pytest.fixture(scope="module")
def server() -> Generator[OpenAIServer]:
    with running_server() as server:
        yield server


def settings_of(server: OpenAIServer) -> AgentSettings:
    return AgentSettings.model_validate({"model": "m", "openai_base_url": server.url, "openai_api_key": "k"})


def test_a_probe_is_written_read_and_removed_among_the_contents(tmp_path: Path) -> None:
    folder = tmp_path / "contents of 云盘"
    folder.mkdir()
    found = check_contents(folder.as_uri())
    assert (found.state, found.hint) == ("ok", "")
    assert str(folder) in found.text
    assert list(folder.iterdir()) == []


def test_a_folder_of_contents_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    assert check_contents((tmp_path / "none").as_uri()).state == "ok"
    assert not (tmp_path / "none").exists()


def test_an_object_store_that_is_away_is_named_without_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_checks, "STORE_SECONDS", 1)
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
    found = check_contents("s3://bucket/prefix?token=the-secret")
    assert found.state == "fail"
    assert found.text.startswith("s3://bucket/prefix does not take")
    assert "DRIVE_BLOB_URL" in found.hint
    assert "the-secret" not in found.text + found.hint


def test_an_address_of_no_store_is_a_failure_with_a_hint() -> None:
    found = check_contents("nonsense://x")
    assert (found.state, "DRIVE_BLOB_URL" in found.hint) == ("fail", True)


def test_a_model_that_answers_is_well(server: OpenAIServer) -> None:
    server.forget()
    server.replies = [text("yes")]
    found = check_answer(settings_of(server))
    assert (found.state, found.hint) == ("ok", "")
    assert re.fullmatch(r"came after \d+\.\d s", found.text)


def test_a_model_that_its_service_does_not_run_is_asked_once_and_told(server: OpenAIServer) -> None:
    server.forget()
    server.replies = [Failure(404, "no such model", code="model_not_found")]
    found = check_answer(settings_of(server))
    assert found.state == "fail"
    assert "does not know this language model" in found.text
    assert "AGENT_MODEL" in found.hint
    assert len(server.requests) == 1


def test_a_model_that_does_not_answer_is_not_waited_for_long(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_checks, "ANSWER_SECONDS", 0.5)
    server.forget()
    server.replies = [Stream([], stalls=True)]
    found = check_answer(settings_of(server))
    assert (found.state, found.text) == ("fail", "none came within 0.5 s")


def test_each_failure_says_what_to_do_next_in_both_languages(tmp_path: Path) -> None:
    settings = {
        "DRIVE_DATA_DIR": str(tmp_path / "data"),
        "DRIVE_BLOB_URL": "nonsense://x",
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    }
    found = drive_agent("doctor", "--json", settings=settings)
    assert found.returncode == 1
    failed = {check["name"]: check for check in json.loads(found.stdout) if check["state"] == "fail"}
    assert {"contents", "model", "service"} <= failed.keys()
    assert [name for name, check in failed.items() if not check["hint"]] == []
    chinese = drive_agent("doctor", settings={**settings, "LC_ALL": "zh_CN.UTF-8"})
    assert re.search("失败 +文件内容", chinese.stdout)
    assert "请检查 DRIVE_BLOB_URL" in chinese.stdout


def test_each_part_that_readiness_names_has_words_and_a_hint(service: Service) -> None:
    parts = httpx.get(f"{service.url}/readyz").json()["checks"].keys() - {"index"}
    assert {"database", "threads", "blobs"} <= parts
    assert [part for part in parts if not hint_of(f"part_{part}")] == []
    assert [part for part in parts if f"check.{part}" not in TEXTS] == []


def test_the_parts_of_a_running_service_are_tried(service: Service) -> None:
    checks = json.loads(service.run("doctor", "--json").stdout)
    found = {check["name"]: check["state"] for check in checks}
    assert {"database", "drive", "threads", "blobs", "contents", "search index", "model"} <= found.keys()
    assert set(found.values()) <= {"ok", "warn"}
