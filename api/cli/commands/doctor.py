"""`drive-agent doctor`: check the service's dependencies, and say how to repair them."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import stat
import sys
import tempfile
from argparse import Namespace
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from api.cli.client import read_json
from api.cli.commands.content_checks import check_contents
from api.cli.commands.drive import WAITING, index_word
from api.cli.commands.model_checks import Check, check_answer, check_models
from api.cli.configuration import settings_of
from api.cli.failure import CommandError, system_reason
from api.cli.service.connection import connected, find_running
from api.cli.terminal import Terminal, format_size, print_json
from api.cli.texts import hint_of, language, text, word
from api.storage.installation import service_parts
from drive_server.kernel.errors import DriveError
from drive_server.kernel.messages import render
from drive_server.kernel.settings import DriveSettings
from drive_server.storage.aside import KINDS, AsideFolder
from drive_server.storage.installation.installation import installation_of
from drive_server.storage.installation.service_record import is_held
from graph.models.dialects import FILE_NAME, public_address, read_learnt
from graph.models.services import OPENAI, SERVICES, access_to
from graph.settings import OFFLINE, ROLES, AgentSettings, split_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.cli.client import ServiceClient

OLDEST_PYTHON = (3, 11)
LITTLE_SPACE = 1_000_000_000
NO_SPACE = 100_000_000
STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor(arguments: Namespace) -> int:
    """Run all checks; exit code 1 if any failed."""
    terminal = Terminal(machine=arguments.json)
    checks: list[Check] = []
    for check in _all_checks(arguments, terminal):
        checks.append(check)
        if not arguments.json:
            state, name = word("state", check.state), word("check", check.name)
            terminal.say(f"{state:<4}  {name}: {check.text}", STYLES[check.state])
            if check.hint:
                terminal.say(f"      {check.hint}")
    if arguments.json:
        print_json([asdict(check) for check in checks])
    failed = [check for check in checks if check.state == "fail"]
    if failed:
        raise CommandError.of("checks_failed", failed=len(failed), count=len(checks))
    return 0


def _all_checks(arguments: Namespace, terminal: Terminal) -> Iterator[Check]:
    settings = settings_of(arguments, DriveSettings)
    yield check_python()
    writable = check_directory(settings.root)
    yield writable
    if writable.state == "fail":
        return
    yield check_space(settings.root, settings.resolved_blob_url)
    agent = settings_of(arguments, AgentSettings)
    yield from check_parts(settings, agent)
    yield check_contents(settings.resolved_blob_url)
    yield from _check_models(agent)
    yield from check_dialects(agent, settings.root)
    yield from _check_service(arguments, settings, terminal)
    yield check_token(settings.token_path)


def _check_models(agent: AgentSettings) -> Iterator[Check]:
    """Check the models, and ask the assistant's own if its service can be asked."""
    found = list(check_models(agent))
    yield from found
    if agent.resolved_model != OFFLINE and found[0].state != "fail":
        yield check_answer(agent)


def check_python() -> Check:
    """Check the version of Python."""
    state = "ok" if sys.version_info >= OLDEST_PYTHON else "fail"
    return Check.of("python", state, "python_version", version=platform.python_version())


def check_directory(root: Path) -> Check:
    """Check that the data directory can be written, and only by its owner."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root) as file:
            file.write(b"drive-agent doctor")
            file.flush()
            os.fsync(file.fileno())
        mode = root.stat().st_mode
    except OSError as error:
        return Check.of("data directory", "fail", "root_unwritable", root=root, reason=system_reason(error))
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        return Check.of("data directory", "warn", "root_open", root=root)
    return Check("data directory", "ok", str(root))


def check_space(root: Path, blob_url: str) -> Check:
    """Check the free space of the disk, and say how much of it contents have that are set aside."""
    free = shutil.disk_usage(root).free
    state = "fail" if free < NO_SPACE else "warn" if free < LITTLE_SPACE else "ok"
    said = text("disk_free", size=format_size(free))
    if aside := size_aside(blob_url):
        said = text("disk_aside", free=said, size=format_size(aside))
    return Check("disk", state, said, "" if state == "ok" else text("disk_free.hint"))


def size_aside(blob_url: str) -> int:
    """Return the bytes of the contents that are set aside on this machine's disk."""
    parts = urlsplit(blob_url)
    if parts.scheme != "file":
        return 0
    folder = AsideFolder(Path(unquote(parts.path)))
    return sum(size for kind in KINDS for _, size, _ in folder.listed(kind))


def check_parts(settings: DriveSettings, agent: AgentSettings) -> Iterator[Check]:
    """Check that the parts of the installation belong together; say which ones do not."""
    others = service_parts(settings.root, settings.resolved_database_url, agent.threads_url)
    try:
        found = asyncio.run(installation_of(settings, others).findings())
    except DriveError as error:
        yield Check("data", "fail", *error.texts(language()))
        return
    for finding in found:
        state = "warn" if finding.part is not None and finding.part.derived else "fail"
        yield Check("data", state, render(finding.message, language()), hint_of(f"data_{state}"))
    if not found:
        yield Check("data", "ok", text("data_together"))


def check_token(path: Path) -> Check:
    """Check the local access token and who may read it."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return Check.of("access token", "warn", "token_none")
    except OSError as error:
        return Check.of("access token", "fail", "token_unreadable", path=path, reason=system_reason(error))
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        return Check.of("access token", "fail", "token_open", path=path)
    return Check("access token", "ok", text("token_private", path=path))


def check_dialects(settings: AgentSettings, root: Path) -> Iterator[Check]:
    """Name the rules learnt about the models' services, for each model there."""
    named = [*(settings.model_of(role) for role in ROLES), *settings.allowed_models]
    providers = {split_model(name)[0] or OPENAI for name in named} & SERVICES.keys()
    addresses = {public_address(access_to(settings, provider).url) for provider in providers}
    for (url, model), learnt in read_learnt(root / FILE_NAME, datetime.now(UTC).date()):
        if url in addresses and learnt:
            found = "; ".join(word("rule", name) for name in learnt)
            yield Check("model's service", "ok", text("model_rules", model=model, found=found))


def _check_service(arguments: Namespace, settings: DriveSettings, terminal: Terminal) -> Iterator[Check]:
    """Check the running service, or one started for this, and its parts."""
    running = find_running(settings.root)
    if not running and is_held(settings.root):
        yield Check.of("service", "fail", "service_silent")
        return
    try:
        with connected(Namespace(url=None, token=None, config=arguments.config), terminal) as client:
            where = text("service_at", url=running.url) if running else text("service_off")
            yield Check("service", "ok", where)
            yield from _check_parts(client)
            yield _check_index(client)
    except CommandError as error:
        yield Check("service", "fail", error.message, error.hint or text("service_fails.hint", root=settings.root))


def _check_parts(client: ServiceClient) -> Iterator[Check]:
    answer: dict[str, Any] = read_json(client.send_unchecked("GET", "/readyz"))
    checks = answer.get("checks") or answer.get("details", {}).get("checks", {})
    for name, state in checks.items():
        if name == "index":
            continue  # told with the states of the files
        is_well = state == "ok"
        yield Check(name, "ok", text("part_answers")) if is_well else Check(name, "fail", str(state), _hint_of(name))


def _hint_of(part: str) -> str:
    """Return the remedy for a part of the service that fails."""
    return hint_of(f"part_{part}") or text("part.hint")


def _check_index(client: ServiceClient) -> Check:
    status = client.get("/api/drive/index")
    counts = status["counts"]
    states = ", ".join(f"{count} {index_word(state)}" for state, count in sorted(counts.items()) if count)
    if status["health"] != "ok":
        return Check.of("search index", "fail", f"index_{status['health']}")
    if any(counts.get(state) for state in WAITING):
        return Check("search index", "warn", states, text("index_waits.hint"))
    if counts.get("failed"):
        return Check("search index", "warn", states, text("index_failed.hint"))
    return Check("search index", "ok", states or text("index_empty"))
