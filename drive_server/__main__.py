"""`python -m drive_server`: the drive without the assistant. Without arguments it serves MCP over stdio."""

import logging
import socket
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

import anyio

from drive_server.connect import open_drive
from drive_server.http.app import create_app
from drive_server.kernel.configuration import Configuration
from drive_server.kernel.errors import DriveError
from drive_server.kernel.files.token_file import make_private_directory
from drive_server.kernel.messages import Message, render, terminal_language
from drive_server.kernel.settings import DriveSettings, Tier
from drive_server.kernel.telemetry.setup import log_to
from drive_server.storage.blobs import open_blobs
from drive_server.storage.collector import Collected, Collector, Rules
from drive_server.storage.installation.installation import installation_of
from drive_server.storage.installation.service_record import running_address
from drive_server.transports.connections import ConnectionLimits
from drive_server.transports.listener import address_of, listen
from drive_server.transports.process import StopRequest
from drive_server.transports.runner import Runner
from drive_server.transports.startup import StartupWatch
from drive_server.transports.stdio import serve_stdio
from drive_server.transports.tls import ServerCertificate, open_certificate


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 failed (a sentence on standard error), 2 wrong usage."""
    chosen = _parser().parse_args(arguments)
    command: Callable[[DriveSettings, Namespace], None] = chosen.command
    try:
        settings = Configuration(chosen.config).read(DriveSettings)
        log_to(logging.StreamHandler(), settings.log_level, settings.log_format)
        command(_beside_service(settings), chosen)
    except DriveError as error:
        print(f"{error.message} {error.hint}", file=sys.stderr)  # noqa: T201 - a command's words to a person
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _beside_service(settings: DriveSettings) -> DriveSettings:
    """Return the settings with the address of the service that runs on this data directory, and say it; if one runs."""
    address = running_address(settings.root)
    if not address:
        return settings
    said = render(Message.of("service_runs_at", url=address), terminal_language())
    print(said, file=sys.stderr)  # noqa: T201 - a command's words to a person
    return settings.listening_at(address)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m drive_server", description=__doc__)
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="file of settings (default: drive-agent.env in the data directory)"
    )
    parser.set_defaults(command=_stdio, tools=None)
    commands = parser.add_subparsers(metavar="stdio|http|migrate|reindex|collect")
    stdio = commands.add_parser("stdio", help="serve MCP over standard input and output")
    stdio.add_argument("--tools", choices=get_args(Tier), help="the tools that the host is shown at first")
    stdio.set_defaults(command=_stdio)
    http = commands.add_parser("http", help="serve MCP at /mcp, and files and keys below /api")
    http.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    http.add_argument("--port", type=int, default=8001, help="port to listen on (default: %(default)s)")
    http.set_defaults(command=_http)
    commands.add_parser("migrate", help="bring the database up to date").set_defaults(command=_migrate)
    commands.add_parser("reindex", help="read all files anew for search").set_defaults(command=_reindex)
    collect = commands.add_parser("collect", help="remove contents that no file has any more")
    collect.add_argument(
        "--unknown", action="store_true", help="also those that the database does not know, however many they are"
    )
    collect.set_defaults(command=_collect)
    return parser


def _stdio(settings: DriveSettings, arguments: Namespace) -> None:
    StopRequest().listen()
    if arguments.tools:
        settings = settings.model_copy(update={"mcp_tools": arguments.tools})
    anyio.run(serve_stdio, settings)


def _http(settings: DriveSettings, arguments: Namespace) -> None:
    stop = StopRequest()
    stop.listen()
    logging.getLogger("uvicorn.error").setLevel(logging.INFO)
    certificate = open_certificate(settings.tls_cert, settings.tls_key)
    with listen(arguments.host, arguments.port) as listener:
        url = address_of(listener, arguments.host, "https" if certificate else "http")
        _serve_http(settings.listening_at(url), listener, certificate, stop)


def _serve_http(
    settings: DriveSettings, listener: socket.socket, certificate: ServerCertificate | None, stop: StopRequest
) -> None:
    app = create_app(settings)

    async def wind_down() -> None:
        app.state.open_streams.end()
        await app.state.mcp.wind_down()

    watched = StartupWatch(app, DriveError)
    try:
        runner = Runner(watched, wind_down, ConnectionLimits.of(settings), certificate)
        stop.hand_over(runner)
        runner.run(sockets=[listener])
    except SystemExit as error:
        if isinstance(watched.failure, DriveError):
            raise watched.failure from error
        raise


def _migrate(settings: DriveSettings, arguments: Namespace) -> None:
    del arguments
    anyio.run(_bring_up_to_date, settings)


def _reindex(settings: DriveSettings, arguments: Namespace) -> None:
    del arguments
    anyio.run(_read_all_anew, settings)


def _collect(settings: DriveSettings, arguments: Namespace) -> None:
    rules = Rules(settings.removed_content_days, settings.keep_everything, takes_all_unknown=arguments.unknown)
    found = anyio.run(_remove_what_nothing_refers_to, settings, rules)
    line = (
        f"Set aside {found.blobs} contents ({found.size} bytes), removed {found.removed} for good and "
        f"{found.unfinished} unfinished files; {found.kept} that the database does not know stay."
    )
    print(line)  # noqa: T201 - a command's words to a person


async def _bring_up_to_date(settings: DriveSettings) -> None:
    database = await installation_of(settings).open()
    await database.dispose()


async def _read_all_anew(settings: DriveSettings) -> None:
    async with open_drive(settings) as drive:
        await drive.ingester.rebuild()
        await drive.ingester.drain()


async def _remove_what_nothing_refers_to(settings: DriveSettings, rules: Rules) -> Collected:
    await anyio.to_thread.run_sync(make_private_directory, settings.root)
    database = await installation_of(settings).open()
    try:
        blobs = await open_blobs(settings.resolved_blob_url)
        return await Collector(database, blobs, rules=rules).run_once()
    finally:
        await database.dispose()


if __name__ == "__main__":
    sys.exit(main())
