from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from api.cli.service.connection import CliSettings
from drive_server.kernel.configuration import Configuration
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.settings import DriveSettings
from graph.build import development_settings
from graph.settings import AgentSettings

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_settings import BaseSettings


@pytest.fixture
def data(tmp_path: Path, drive_settings: DriveSettings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory in the environment; the current folder is another one, with a hostile `.env`."""
    assert drive_settings.root.parent == tmp_path
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "AGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    data, project = tmp_path / "data", tmp_path / "project"
    data.mkdir()
    project.mkdir()
    (project / ".env").write_text(
        "DRIVE_DATA_DIR=/elsewhere\nDRIVE_EMBEDDING_URL=http://evil.example\nOPENAI_BASE_URL=http://evil.example\n"
        "DRIVE_AGENT_URL=http://evil.example\nAGENT_WEBHOOK_URL=http://evil.example\n"
    )
    monkeypatch.chdir(project)
    monkeypatch.setenv("DRIVE_DATA_DIR", str(data))
    return data


@pytest.mark.parametrize("kind", [DriveSettings, AgentSettings, CliSettings])
def test_no_settings_come_from_the_current_folder(data: Path, kind: type[BaseSettings]) -> None:
    read = [kind(), Configuration().read(kind)]

    assert "evil" not in repr(read)
    assert Configuration().read(DriveSettings).root == data


def test_the_development_server_alone_reads_it_after_the_file_of_the_data_directory(data: Path) -> None:
    (data / "drive-agent.env").write_text("DRIVE_TRASH_DAYS=7\nDRIVE_EMBEDDING_URL=http://mine.example\n")

    agent, drive = development_settings()

    assert agent.openai_base_url == drive.embedding_url == "http://evil.example"
    assert drive.trash_days == 7


def test_the_file_of_the_data_directory_counts_where_the_environment_says_nothing(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data / "drive-agent.env").write_text("\ufeffAGENT_MODEL=mine\nDRIVE_TRASH_DAYS=7\nDRIVE_MAX_VERSIONS=9\n", "utf-8")
    monkeypatch.setenv("DRIVE_MAX_VERSIONS", "5")

    drive = Configuration().read(DriveSettings)

    assert (drive.trash_days, drive.max_versions, Configuration().read(AgentSettings).model) == (7, 5, "mine")


def test_a_named_file_replaces_that_of_the_data_directory_and_may_name_another_one(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data / "drive-agent.env").write_text("DRIVE_TRASH_DAYS=7\n")
    named = tmp_path / "named.env"
    named.write_text(f"DRIVE_DATA_DIR={tmp_path / 'other'}\n")
    monkeypatch.delenv("DRIVE_DATA_DIR")

    drive = Configuration(named).read(DriveSettings)

    assert (drive.root, drive.trash_days) == (tmp_path / "other", 30)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"DRIVE_TRASH_DAYS=7\nthis is no setting\n", "Line 2 of .* is not of the form NAME=value"),
        (b"DRIVE_TRASH_DAYS=soon\n", "DRIVE_TRASH_DAYS can't be used"),
        (b"OPENAI_API_KEY=\xff\xfe\n", "it is no text in UTF-8"),
        (b"drive_data_dir=/elsewhere\n", "can't name another data directory"),
        (b"DRIVE_PUBLIC_URL=drive.example.com\n", "DRIVE_PUBLIC_URL can't be used: write it as https://"),
        (None, "can't be read: Is a directory"),
    ],
)
def test_a_file_that_can_not_be_used_is_a_sentence(data: Path, content: bytes | None, sentence: str) -> None:
    path = data / "drive-agent.env"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)

    with pytest.raises(InvalidInputError) as refused:
        Configuration().read(DriveSettings)

    assert re.search(sentence, refused.value.message)
    assert refused.value.hint


def test_a_named_file_has_to_be_there(data: Path) -> None:
    with pytest.raises(InvalidInputError, match="can't be read: No such file"):
        Configuration(data / "nothing.env").read(DriveSettings)


@pytest.mark.parametrize(
    "url",
    [
        "drive.example.com",
        "ftp://drive.example.com",
        "https://",
        "https://drive.example.com/drive",
        "https://drive.example.com/?a=b",
        "https://drive.example.com/#a",
        "https://me@drive.example.com",
        "https://drive.example.com:many",
        "https://drive.example.com:70000",
        "https://drive example.com",
        "javascript:alert(1)",
    ],
)
def test_a_public_address_that_can_not_be_right_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIVE_PUBLIC_URL", url)

    with pytest.raises(InvalidInputError, match="DRIVE_PUBLIC_URL can't be used"):
        Configuration().read(DriveSettings)


def test_the_public_address_is_where_the_service_listens_unless_it_is_set() -> None:
    settings = DriveSettings(data_dir="data")  # pyright: ignore[reportArgumentType] - as the environment gives it
    elsewhere = settings.listening_at("http://127.0.0.1:8110")

    assert (settings.resolved_public_url, settings.mcp_url) == ("http://127.0.0.1:8000", "http://127.0.0.1:8000/mcp")
    assert elsewhere.resolved_public_url == "http://127.0.0.1:8110"
    assert DriveSettings(public_url="https://a.example/").listening_at("http://b").mcp_url == "https://a.example/mcp"
