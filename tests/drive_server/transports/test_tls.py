"""The certificate of a server: files that can't be used are one sentence, and HTTPS is real."""

from __future__ import annotations

import socket
import ssl
import threading
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from drive_server.kernel.errors import InvalidInputError
from drive_server.transports.runner import Runner
from drive_server.transports.tls import open_certificate
from tests.drive_server.transports.certificates import made

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request


def refusal(certificate: object, key: object) -> str:
    with pytest.raises(InvalidInputError) as refused:
        open_certificate(str(certificate), str(key))
    chinese = " ".join(refused.value.texts("zh"))
    assert chinese != " ".join(refused.value.texts("en"))
    assert refused.value.hint
    return refused.value.message


def test_without_files_there_is_no_certificate() -> None:
    assert open_certificate("", "") is None


def test_one_of_both_is_not_enough(tmp_path: Path) -> None:
    files = made(tmp_path)
    for named in ((files.certificate, ""), ("", files.secret)):
        assert "only one of both is named" in refusal(*named)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    files = made(tmp_path)
    assert (
        refusal(tmp_path / "none.pem", files.secret) == f"{tmp_path}/none.pem can't be read: no such file or directory."
    )
    assert refusal(files.certificate, tmp_path) == f"{tmp_path} can't be read: is a directory."


def test_files_in_each_others_place_are_told(tmp_path: Path) -> None:
    files = made(tmp_path)
    assert refusal(files.secret, files.certificate) == f"There is no certificate in {files.secret}."
    assert refusal(files.certificate, files.certificate) == f"There is no private key in {files.certificate}."


def test_a_broken_certificate_and_a_broken_key_are_told(tmp_path: Path) -> None:
    files = made(tmp_path)
    broken = tmp_path / "broken.pem"
    broken.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    assert refusal(broken, files.secret) == f"There is no certificate in {broken}."
    broken.write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    assert refusal(files.certificate, broken) == f"There is no private key in {broken}."


def test_the_key_of_another_certificate_is_told(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one"), made(tmp_path / "other")
    assert refusal(one.certificate, other.secret) == (
        f"The key in {other.secret} does not belong to the certificate in {one.certificate}."
    )


def test_a_key_with_a_password_is_told_and_not_asked_about(tmp_path: Path) -> None:
    files = made(tmp_path, password="secret")
    assert refusal(files.certificate, files.secret) == f"The private key in {files.secret} has a password."


def test_a_certificate_is_for_its_names_and_one_label_below_a_star(tmp_path: Path) -> None:
    files = made(tmp_path, "drive.example.com", "*.example.org", "10.0.0.1")
    opened = open_certificate(str(files.certificate), str(files.secret))
    assert opened
    hosts = ("drive.example.com", "a.example.org", "10.0.0.1", "example.org", "a.b.example.org", "other.example.com")
    assert [opened.is_for(host) for host in hosts] == [True, True, True, False, False, False]


async def scheme_of(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.url.scheme)


async def nothing() -> None:
    return


def test_a_request_over_https_is_answered_and_known_as_one(tmp_path: Path) -> None:
    files = made(tmp_path)
    certificate = open_certificate(str(files.certificate), str(files.secret))
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"https://127.0.0.1:{listener.getsockname()[1]}"
    runner = Runner(Starlette(routes=[Route("/", scheme_of)]), nothing, certificate=certificate)
    thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        trusting = ssl.create_default_context(cafile=files.certificate)
        assert httpx.get(url, verify=trusting).text == "https"
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(url)
        old = ssl.create_default_context(cafile=files.certificate)
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        assert httpx.get(url, verify=old).text == "https"
        with pytest.raises(httpx.TransportError):
            httpx.get(url.replace("https:", "http:"))
    finally:
        runner.should_exit = True
        thread.join()
