"""Find the service for a command: the one at --url, the one that runs here, or one in this process."""

from __future__ import annotations

import ssl
import time
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from api.cli.client import LOCAL_HOSTS, TIMEOUT, ServiceClient, translated_errors
from api.cli.configuration import settings_of
from api.cli.failure import CommandError, system_reason
from api.cli.service.data_dir import BusyError, attached, hold, publish, wait_for_peers, withdraw
from api.cli.texts import language, text
from drive_server.kernel.settings import DriveSettings
from drive_server.storage.installation.service_record import ServiceRecord, read_record

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Generator
    from pathlib import Path

    from api.cli.terminal import Terminal

START_SECONDS = 60
NO_CHECK_TIME = 0x200000
"""OpenSSL's `X509_V_FLAG_NO_CHECK_TIME`: the service still is the one that wrote its record."""


class CliSettings(BaseSettings):
    """The address of the service and the key for it, from the environment (`DRIVE_AGENT_...`)."""

    model_config = SettingsConfigDict(env_prefix="DRIVE_AGENT_", extra="ignore")

    url: str = Field(default="", description="Address of the service; empty: the one that runs here, or one's own.")
    token: str = Field(default="", description="Access token or API key; empty: the local token.")


@contextmanager
def connected(arguments: Namespace, terminal: Terminal) -> Generator[ServiceClient]:
    """Yield a client of the service that the arguments and the environment name."""
    settings, drive = settings_of(arguments, CliSettings), settings_of(arguments, DriveSettings)
    url, token = arguments.url or settings.url, arguments.token or settings.token
    with ExitStack() as stack:
        if url:
            client = ServiceClient(_client_at(url, token, drive), lambda: _client_at(url, token, drive))
        else:
            record = _ensure_service(arguments, drive.root, stack, terminal)
            client = ServiceClient(
                _client_of(record, drive, token), lambda: _client_of(_find_again(drive.root), drive, token)
            )
        stack.callback(client.close)
        yield client


@contextmanager
def connected_if_running(arguments: Namespace) -> Generator[ServiceClient]:
    """Yield a client of the service that `connected` would find. Raises `CommandError` if none runs: it starts none."""
    settings, drive = settings_of(arguments, CliSettings), settings_of(arguments, DriveSettings)
    url, token = arguments.url or settings.url, arguments.token or settings.token

    def opened() -> httpx.Client:
        return _client_at(url, token, drive) if url else _client_of(_find_again(drive.root), drive, token)

    with closing(ServiceClient(opened(), opened)) as client:
        yield client


def service_address(arguments: Namespace) -> str:
    """Return the address of the service that the settings name, or that runs here; empty if no browser reaches one."""
    named = arguments.url or settings_of(arguments, CliSettings).url
    running = None if named else find_running(settings_of(arguments, DriveSettings).root)
    return named or (running.url if running and not running.socket else "")


def find_running(root: Path) -> ServiceRecord | None:
    """Return the service on the data directory, if one runs and answers."""
    record = read_record(root)
    return record if record and _is_healthy(record) else None


def _ensure_service(arguments: Namespace, root: Path, stack: ExitStack, terminal: Terminal) -> ServiceRecord:
    """Return the running service, or start one for as long as the stack lasts."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        if record := _attach(root, stack):
            return record
        try:
            stack.enter_context(hold(root))
        except BusyError:
            # It holds the lock but does not answer yet: it is starting, or ending.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return _serve_here(arguments, root, stack, terminal)


def _attach(root: Path, stack: ExitStack) -> ServiceRecord | None:
    """Return the running service, if there is one; it does not end by itself before the stack does."""
    with ExitStack() as attempt:
        attempt.enter_context(attached(root))
        record = find_running(root)
        if record:
            stack.push(attempt.pop_all())
        return record


def _serve_here(arguments: Namespace, root: Path, stack: ExitStack, terminal: Terminal) -> ServiceRecord:
    from api.cli.service.local_service import serving_in_process
    from graph.settings import AgentSettings

    service = serving_in_process(settings_of(arguments, DriveSettings), settings_of(arguments, AgentSettings))
    if terminal.animated:
        with terminal.err.status(text("starting")):
            record = stack.enter_context(service)
    else:
        record = stack.enter_context(service)
    publish(root, record)
    stack.callback(_leave, root, terminal)
    return record


def _leave(root: Path, terminal: Terminal) -> None:
    withdraw(root)
    try:
        wait_for_peers(root, lambda: terminal.note(text("peers")))
    except KeyboardInterrupt:
        terminal.note(text("not_waiting"))


def _find_again(root: Path) -> ServiceRecord:
    record = find_running(root)
    if not record:
        raise CommandError.of("gone", attempt=["serve"])
    return record


def _client_of(record: ServiceRecord, drive: DriveSettings, token: str) -> httpx.Client:
    return httpx.Client(
        base_url=record.url,
        headers=_authorization(token or _local_token(drive)),
        timeout=TIMEOUT,
        transport=_transport(record),
    )


def _client_at(url: str, token: str, drive: DriveSettings) -> httpx.Client:
    address = urlsplit(url)
    if address.scheme not in {"http", "https"} or not address.hostname:
        raise CommandError.of("bad_url", url=url)
    local = address.hostname in LOCAL_HOSTS
    if not token and not local:
        # The local token opens this machine's drive: it is not sent anywhere else.
        raise CommandError.of("key_needed")
    with translated_errors():
        return httpx.Client(
            base_url=url,
            headers=_authorization(token or _local_token(drive)),
            timeout=TIMEOUT,
            trust_env=not local,
            verify=address.scheme == "https",
        )


def _transport(record: ServiceRecord) -> httpx.HTTPTransport:
    # Without TLS there is nothing to verify, and loading the certificates would cost more than the request.
    verify = _pinned(record.certificate) if record.certificate else record.url.startswith("https:")
    return httpx.HTTPTransport(uds=record.socket or None, verify=verify)


def _pinned(certificate: str) -> ssl.SSLContext:
    """Return a context that trusts this certificate alone, with any name and from any maker."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | NO_CHECK_TIME
    context.load_verify_locations(cadata=certificate)
    return context


def _authorization(token: str) -> dict[str, str]:
    if not token.isascii() or not token.isprintable():
        raise CommandError.of("token_form")
    return {"Authorization": f"Bearer {token}", "Accept-Language": language()}


def _local_token(drive: DriveSettings) -> str:
    try:
        return drive.token_path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise CommandError.of("no_token", reason=system_reason(error), root=drive.root) from error


def _is_healthy(record: ServiceRecord) -> bool:
    try:
        with httpx.Client(base_url=record.url, transport=_transport(record), timeout=5) as client:
            return client.get("/healthz").is_success
    except httpx.TransportError:
        return False
