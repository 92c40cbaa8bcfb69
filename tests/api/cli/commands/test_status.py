"""The state of the service, as a person and as a program reads it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Person
    from tests.e2e.service import Service

EXPECTED = {
    "en": ["Version:", "Database:", "Contents:", "Index:", "People:", "Runs:", "Backup:"],
    "zh": ["版本：", "数据库：", "文件内容：", "索引：", "人员：", "运行：", "备份："],
}


@pytest.mark.parametrize(("language", "locale"), [("en", "C"), ("zh", "zh_CN.UTF-8")])
def test_the_state_is_said_in_both_languages(service: Service, language: str, locale: str) -> None:
    said = service.run("status", LC_ALL=locale)
    assert said.returncode == 0, said.stderr
    begun = [line.split()[0] for line in said.stdout.splitlines() if re.match(r"\S", line)]
    assert [word.partition("：")[0] + "：" if "：" in word else word for word in begun] == EXPECTED[language]


def test_sizes_people_and_the_last_backup_are_told(service: Service, alice: Person, tmp_path: Path) -> None:
    alice.upload("counted.txt", "a content of its own")
    before = json.loads(service.run("status", "--json").stdout)
    alice.upload("another.txt", "another content of its own")
    made = service.run("backup", str(tmp_path / "backups"))
    assert made.returncode == 0, made.stderr
    after = json.loads(service.run("status", "--json").stdout)
    assert after["contents"] == before["contents"] + 1
    assert after["content_bytes"] == before["content_bytes"] + len("another content of its own")
    assert after["database"] == "sqlite"
    assert after["database_bytes"] > (service.data_dir / "drive.db").stat().st_size
    assert after["people"] >= 2
    assert after["runs_at_work"] == 0
    assert after["last_backup"].startswith(str(tmp_path / "backups"))
    assert str(tmp_path / "backups") in service.run("status").stdout


def test_who_is_no_administrator_is_told_so(service: Service, alice: Person) -> None:
    refused = service.run("status", "--token", alice.token)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "administrator" in refused.stderr


def test_at_another_address_the_backup_is_not_guessed(service: Service) -> None:
    token = (service.data_dir / "token").read_text().strip()
    said = service.run("status", "--url", service.url, "--token", token)
    assert "known on the service's machine" in said.stdout
