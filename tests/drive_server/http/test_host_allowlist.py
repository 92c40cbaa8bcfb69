"""The Host and Origin headers that are answered, at whatever address the service listens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.http.hosts import HostAllowlist

if TYPE_CHECKING:
    from starlette.types import Scope

    from drive_server.kernel.settings import DriveSettings


@pytest.fixture
def hosts(drive_settings: DriveSettings) -> HostAllowlist:
    public = {"public_url": "https://drive.example.com", "public_hosts": "other.example, 文件.example:8443,"}
    return HostAllowlist(drive_settings.model_copy(update=public))


def scope(server: tuple[str, int | None] | None, *headers: tuple[str, str]) -> Scope:
    return {
        "type": "http",
        "server": server,
        "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers],
    }


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "192.168.1.5", "10.0.0.1", "fe80::1"])
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", None),
        ("127.0.0.1", None),
        ("[::1]:80", None),
        ("LOCALHOST", None),
        ("localhost.", None),
        ("drive.example.com", None),
        ("other.example:8443", None),
        ("evil.example", 421),
        ("drive.example.com.evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("evil.example:8000", 421),
        ("user@localhost", 421),
        ("localhost/..", 421),
        ("[::1", 421),
        ("", 421),
    ],
)
def test_only_known_names_are_answered_on_every_address(
    hosts: HostAllowlist, address: str, host: str, status: int | None
) -> None:
    assert hosts.refusal(scope((address, 8000), ("host", host))) == status


@pytest.mark.parametrize(
    ("address", "host", "status"),
    [
        ("192.168.1.5", "192.168.1.5:8000", None),
        ("192.168.1.5", "192.168.1.6:8000", 421),
        ("127.0.0.2", "127.0.0.2:8000", None),
        ("fe80::1", "[fe80::1]:8000", None),
    ],
)
def test_the_address_that_was_called_is_a_name_of_its_own(
    hosts: HostAllowlist, address: str, host: str, status: int | None
) -> None:
    assert hosts.refusal(scope((address, 8000), ("host", host))) == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:5173", None),
        ("https://drive.example.com", None),
        ("http://192.168.1.5:8000", None),
        ("https://evil.example", 403),
        ("null", 403),
        ("file://", 403),
        ("chrome-extension://localhost", 403),
        ("http://localhost@evil.example", 403),
        ("", 403),
    ],
)
def test_pages_of_other_sites_are_refused(hosts: HostAllowlist, origin: str, status: int | None) -> None:
    request = scope(("192.168.1.5", 8000), ("host", "192.168.1.5:8000"), ("origin", origin))
    assert hosts.refusal(request) == status


@pytest.mark.parametrize(
    ("sites", "origin", "status"),
    [
        ("https://app.example.com", "https://app.example.com", None),
        ("https://app.example.com", "http://app.example.com", 403),
        ("https://app.example.com", "https://app.example.com:8443", 403),
        ("https://app.example.com", "https://evil.example", 403),
        ("*", "https://evil.example", None),
    ],
)
def test_pages_of_the_sites_in_the_settings_may_call_by_the_names_of_this_service_alone(
    drive_settings: DriveSettings, sites: str, origin: str, status: int | None
) -> None:
    hosts = HostAllowlist(drive_settings.model_copy(update={"cors_origins": sites}))
    assert hosts.refusal(scope(("127.0.0.1", 1), ("host", "localhost"), ("origin", origin))) == status
    assert hosts.refusal(scope(("127.0.0.1", 1), ("host", "app.example.com"), ("origin", origin))) == 421


def test_a_request_names_one_host(hosts: HostAllowlist) -> None:
    assert hosts.refusal(scope(("127.0.0.1", 1))) == 421
    assert hosts.refusal(scope(("127.0.0.1", 1), ("host", "localhost"), ("host", "evil.example"))) == 421


@pytest.mark.parametrize("server", [None, ("/run/drive/socket", None)])
def test_a_unix_socket_is_reached_by_no_page(hosts: HostAllowlist, server: tuple[str, None] | None) -> None:
    assert hosts.refusal(scope(server, ("host", "anything"))) is None
