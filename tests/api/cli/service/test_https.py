"""The service over HTTPS without a proxy: browsers, commands of this machine, and files that can't be used."""

from __future__ import annotations

import json
import ssl
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.api.cli.command import drive_agent
from tests.drive_server.transports.certificates import Files, made
from tests.e2e.service import Service, running

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

TRANSPORT = "strict-transport-security"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return made(tmp_path_factory.mktemp("certificate"), "127.0.0.1", "drive.example.com")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, files: Files) -> Generator[Service]:
    named = {"DRIVE_TLS_CERT": str(files.certificate), "DRIVE_TLS_KEY": str(files.secret)}
    public = {"DRIVE_PUBLIC_URL": "https://drive.example.com"}
    with running(tmp_path_factory.mktemp("https"), **named, **public) as service:
        yield service


@pytest.fixture
def browser(service: Service, files: Files) -> Generator[httpx.Client]:
    trusting = ssl.create_default_context(cafile=files.certificate)
    listens = service.run("login-link").stdout and json.loads((service.data_dir / "service.json").read_text())["url"]
    with httpx.Client(base_url=listens, verify=trusting) as browser:
        yield browser


def test_a_browser_is_logged_in_with_a_cookie_for_https_alone(service: Service, browser: httpx.Client) -> None:
    link = service.run("login-link").stdout.strip()
    assert link.startswith("https://drive.example.com/login/")
    opened = browser.get(httpx.URL(link).path)
    assert opened.status_code == 303
    cookie = opened.headers["set-cookie"].lower()
    assert "; secure" in cookie
    assert "; httponly" in cookie
    assert browser.get("/api/auth/me").json()["email"] == "me@localhost"


def test_https_is_promised_for_the_public_host_and_for_no_other(browser: httpx.Client) -> None:
    assert browser.get("/healthz", headers={"Host": "drive.example.com"}).headers[TRANSPORT] == "max-age=31536000"
    assert browser.get("/healthz", headers={"Host": "drive.example.com:443"}).headers[TRANSPORT]
    assert TRANSPORT not in browser.get("/healthz").headers


def test_commands_of_this_machine_know_the_service_by_its_certificate(service: Service) -> None:
    assert service.run("mkdir", "/Over HTTPS").returncode == 0
    assert "Over HTTPS/" in service.run("ls").stdout
    # The record is what is trusted: with another certificate in it, nobody is sent the token.
    record = service.data_dir / "service.json"
    body = record.read_text()
    another = made(service.data_dir.parent / "another").certificate.read_text()
    record.write_text(json.dumps({**json.loads(body), "certificate": another}))
    try:
        doubted = service.run("doctor", seconds=60)
        assert "does not answer" in doubted.stdout
    finally:
        record.write_text(body)


def test_a_certificate_that_ended_is_served_with_a_word_of_warning(tmp_path: Path) -> None:
    files = made(tmp_path / "ended", days=-1)
    named = {"DRIVE_TLS_CERT": str(files.certificate), "DRIVE_TLS_KEY": str(files.secret)}
    with running(tmp_path, **named) as service:
        assert "The certificate ended on " in service.printed.read_text()
        assert service.run("ls").returncode == 0


def test_a_certificate_for_other_hosts_is_told_with_the_setting_that_helps(tmp_path: Path) -> None:
    files = made(tmp_path / "other", "drive.example.com")
    named = {"DRIVE_TLS_CERT": str(files.certificate), "DRIVE_TLS_KEY": str(files.secret)}
    with running(tmp_path, **named) as service:
        assert "The certificate is for drive.example.com, and links lead to https://127.0.0.1:" in (
            service.printed.read_text().replace("\n", " ")
        )


@pytest.mark.parametrize("language", ["C", "zh_CN.UTF-8"])
def test_files_that_do_not_belong_together_stop_the_start(tmp_path: Path, language: str) -> None:
    one, other = made(tmp_path / "one"), made(tmp_path / "other")
    named = ("--tls-cert", str(one.certificate), "--tls-key", str(other.secret))
    settings = {"DRIVE_DATA_DIR": str(tmp_path / "data"), "LC_ALL": language}
    result = drive_agent("serve", "--port", "0", *named, settings=settings)
    assert (result.returncode, result.stdout) == (1, "")
    assert ("does not belong to the certificate" if language == "C" else "不属于") in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "data" / "drive.db").exists()
