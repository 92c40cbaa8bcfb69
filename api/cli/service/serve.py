"""`drive-agent serve`: run the service until it is stopped."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from api.cli.failure import CommandError
from api.cli.service.data_dir import BusyError, ServiceRecord, hold, publish, read_record, withdraw
from api.cli.terminal import Terminal
from drive_server.settings import DriveSettings

if TYPE_CHECKING:
    from argparse import Namespace

WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, never bound unasked
OFFLINE_HELP = """\
           It needs no key and no network, and understands frequent requests, in English and Chinese.
           For a real one set OPENAI_API_KEY (with OPENAI_BASE_URL for another provider, AGENT_MODEL for
           another model) in the environment or in a file .env here, and start again."""


def serve(arguments: Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM; print the next steps once it is ready."""
    terminal = Terminal()
    settings = DriveSettings()
    root = settings.root
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt), hold(root), _listen(arguments.host, arguments.port) as listener:
            _serve(listener, arguments.host, settings, terminal)
    except BusyError as error:
        raise _explain(error, read_record(root)) from error
    terminal.note("Stopped.")
    return 0


def _serve(listener: socket.socket, host: str, settings: DriveSettings, terminal: Terminal) -> None:
    from api.cli.service.local_service import service_runner

    root = settings.root
    url = _url(host, listener.getsockname()[1])

    def announce() -> None:
        _print_next_steps(url, settings, terminal)
        publish(root, ServiceRecord(url, os.getpid()))

    terminal.note("Starting…")
    try:
        service_runner(announce).run_on(listener)
    finally:
        withdraw(root)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except socket.gaierror as error:
        raise CommandError(f"{host} is not an address to listen on.", hint="Use e.g. --host 127.0.0.1.") from error
    except OSError as error:
        raise CommandError(
            f"Can't listen on {host}, port {port}: {os.strerror(error.errno or 0).lower()}.",
            hint="Choose another port with --port; --port 0 takes a free one.",
        ) from error


def _url(host: str, port: int) -> str:
    reachable = WILDCARDS.get(host, host)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def _print_next_steps(url: str, settings: DriveSettings, terminal: Terminal) -> None:
    token = settings.token_path.read_text(encoding="utf-8").strip()
    terminal.say("Drive Agent is ready.", "bold")
    terminal.say(f"  Open:    {url}/?token={token}")
    terminal.say(f'  Try:     {_command_name()} chat "what can you do?"')
    terminal.say(f"  Model:   {_model_words()}")
    terminal.say(f"  Data:    {settings.root}")
    terminal.say("Ctrl-C stops it.")
    terminal.out.file.flush()


def _model_words() -> str:
    from graph.settings import OFFLINE, AgentSettings

    settings = AgentSettings()
    if settings.resolved_model == OFFLINE:
        return f"the built-in offline model is in use.\n{OFFLINE_HELP}"
    return f"{settings.resolved_model} at {settings.openai_base_url or 'the provider of OPENAI_API_KEY'}"


def _command_name() -> str:
    """Return the name to type for this command: its virtual environment need not be on the PATH."""
    if shutil.which("drive-agent"):
        return "drive-agent"
    return os.path.relpath(sys.argv[0]) if os.path.exists(sys.argv[0]) else sys.argv[0]  # noqa: PTH110 - as typed


def _explain(error: BusyError, record: ServiceRecord | None) -> CommandError:
    if not record or record.socket:
        return error
    return CommandError(
        f"The service is running already at {record.url} (process {record.pid}).",
        hint="Use it, stop it, or set DRIVE_DATA_DIR to another directory.",
    )
