"""`drive-agent serve`: run the service until it is stopped."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from api.cli.configuration import as_command_error, settings_of
from api.cli.failure import CommandError
from api.cli.invocation import command_line
from api.cli.service.connection import LOCAL_HOSTS
from api.cli.service.data_dir import BusyError, hold, publish, withdraw
from api.cli.terminal import Terminal
from api.cli.texts import text
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.garbage_collector import paused_collector
from drive_server.kernel.settings import DriveSettings
from drive_server.kernel.telemetry.setup import log_to
from drive_server.storage.installation.service_record import ServiceRecord, read_record
from drive_server.transports.listener import address_of, listen
from drive_server.transports.process import StopRequest, Terminated
from drive_server.transports.tls import ServerCertificate, open_certificate
from graph.settings import OFFLINE, AgentSettings, split_model

if TYPE_CHECKING:
    import socket
    from argparse import Namespace
    from pathlib import Path

    from fastapi import FastAPI

DEFAULT_URL = "http://127.0.0.1:8000"
PORTS = {"http": 80, "https": 443}


def serve(arguments: Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM; print the next steps once it is ready."""
    terminal = Terminal()
    drive, agent = settings_of(arguments, DriveSettings), settings_of(arguments, AgentSettings)
    log_to(logging.StreamHandler(), arguments.log_level or drive.log_level, drive.log_format)
    stop = StopRequest()
    stop.listen()
    try:
        certificate = open_certificate(arguments.tls_cert or drive.tls_cert, arguments.tls_key or drive.tls_key)
        with (
            suppress(KeyboardInterrupt, Terminated),
            hold(drive.root),
            listen(arguments.host, arguments.port) as listener,
        ):
            url = address_of(listener, arguments.host, "https" if certificate else "http")
            Start(url, arguments.config, drive.listening_at(url), agent, terminal, certificate).serve(listener, stop)
    except BusyError as error:
        raise _explain(error, read_record(drive.root)) from error
    except InvalidInputError as error:
        raise as_command_error(error) from error
    terminal.note(text("stopped"))
    return 0


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the service at the address `url`; `config` is the file of settings that --config named."""

    url: str
    config: Path | None
    drive: DriveSettings
    agent: AgentSettings
    terminal: Terminal
    certificate: ServerCertificate | None = None

    def serve(self, listener: socket.socket, stop: StopRequest) -> None:
        """Serve until it is stopped, or was asked to stop while it started."""
        self.terminal.note(text("starting"))
        for doubt in (doubt_about(self.drive.public_url, self.url), self._doubt_about_certificate()):
            if doubt:
                self.terminal.note(doubt, "yellow")
        try:
            with paused_collector():
                from api.cli.service.local_service import service_runner

                runner = service_runner(self.drive, self.agent, self._announce, self.certificate)
                stop.hand_over(runner)
                runner.run_on(listener)
        finally:
            withdraw(self.drive.root)

    async def _announce(self, app: FastAPI) -> None:
        from api.app import local_login_link

        self.print_next_steps(await local_login_link(app))
        pem = self.certificate.pem if self.certificate else ""
        publish(self.drive.root, ServiceRecord(self.url, os.getpid(), certificate=pem))

    def _doubt_about_certificate(self) -> str:
        """Return a sentence on a certificate that browsers refuse; empty if there is none, or no doubt."""
        if self.certificate is None:
            return ""
        if self.certificate.ends < datetime.now(UTC):
            return text("certificate_ended", date=f"{self.certificate.ends:%Y-%m-%d}")
        address = self.drive.resolved_public_url
        if self.certificate.is_for(urlsplit(address).hostname or ""):
            return ""
        return text("certificate_names", names=", ".join(self.certificate.names) or "?", url=address)

    def print_next_steps(self, login: str) -> None:
        """Print the next steps; `login` is an address that logs a browser in."""
        say = self.terminal.say
        say(text("ready"), "bold")
        say(text("ready_open", login=login))
        say(text("ready_once"))
        if self.drive.resolved_public_url != self.url:
            say(text("ready_listens", url=self.url))
        say(text("ready_try", command=self._command()))
        say(text("ready_model", model=self._model_words()))
        say(text("ready_data", root=self.drive.root))
        say(text("ready_stop"))
        self.terminal.out.file.flush()

    def _command(self) -> str:
        """Return the command line of a chat with this service, as it works in another terminal."""
        # A certificate is for the public address; the data directory leads to the service with its certificate.
        is_here = urlsplit(self.url).hostname in LOCAL_HOSTS and self.certificate is None
        return command_line(
            ["chat"],
            data_dir=self.drive.root if self.drive.root != DriveSettings.model_construct().root else None,
            config=self.config,
            url=self.url if is_here and self.url != DEFAULT_URL else "",
        )

    def _model_words(self) -> str:
        if self.agent.resolved_model == OFFLINE:
            return text("ready_offline", file=self.config or self.drive.config_path)
        if split_model(self.agent.resolved_model)[0] not in {"", "openai"}:
            return self.agent.resolved_model
        place = self.agent.openai_base_url or text("key_provider")
        return text("model_at", model=self.agent.resolved_model, place=place)


def doubt_about(public_url: str, url: str) -> str:
    """Return a sentence on a public address that this service can hardly be reached by; empty if there is no doubt."""
    public, own = urlsplit(public_url), urlsplit(url)
    if not public_url:
        return ""
    port = public.port or PORTS[public.scheme]
    if public.hostname in LOCAL_HOSTS and (port, public.scheme) != (own.port, own.scheme):
        return text("doubtful_address", public=public_url, url=url)
    return ""


def _explain(error: BusyError, record: ServiceRecord | None) -> CommandError:
    if not record or record.socket:
        return error
    return CommandError.of("runs_already", url=record.url, pid=record.pid)
