"""Several services on one PostgreSQL database: they start at once, and nobody's token ends another's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest
from cryptography.fernet import Fernet

from tests.api.storage.postgres_server import running_server
from tests.databases import async_url
from tests.e2e.person import Person
from tests.e2e.service import Service

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture
def environment(tmp_path: Path) -> Generator[dict[str, str]]:
    with running_server() as server:
        url = server.new_database()
        yield {
            "DRIVE_DATABASE_URL": async_url(url),
            "AGENT_THREADS_URL": url,
            "DRIVE_BLOB_URL": (tmp_path / "blobs").as_uri(),
            "DRIVE_EMBEDDING_MODEL": "none",
            "AGENT_MODEL": "offline",
            "AGENT_SECRETS_KEY": Fernet.generate_key().decode(),
        }


def service_in(folder: Path, environment: dict[str, str]) -> Service:
    folder.mkdir()
    return Service(folder, environment)


@pytest.mark.timeout(300)
def test_three_that_first_start_at_once_all_get_ready_and_the_first_administrator_works_at_each(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    services = [service_in(tmp_path / name, environment) for name in ("first", "second", "third")]
    with ExitStack() as stack:
        for service in services:
            stack.callback(service.stop)
        with ThreadPoolExecutor(3) as threads:
            list(threads.map(Service.start, services))

        made = services[0].run("admin", "create", "root@example.com")
        assert made.returncode == 0, made.stderr
        assert "account: first_administrator" in (services[0].data_dir / "drive-agent.log").read_text()
        again = services[1].run("admin", "create", "other@example.com")
        assert (again.returncode, again.stdout) == (1, "")
        assert "administrator already" in again.stderr
        for service in services:
            with closing(Person(service.url, made.stdout.strip(), "root@example.com")) as person:
                assert person.get("/api/auth/me")["is_admin"]
                assert person.get("/api/threads")["items"] == []
        assert not [service for service in services if (service.data_dir / "token").exists()]


@pytest.mark.timeout(120)
def test_without_a_key_for_secrets_none_starts_and_says_why(tmp_path: Path, environment: dict[str, str]) -> None:
    del environment["AGENT_SECRETS_KEY"]
    refused = service_in(tmp_path / "only", environment).run("serve", "--port", "0")
    assert refused.returncode == 1
    assert "AGENT_SECRETS_KEY is not set" in refused.stderr
