"""`drive-agent backup`: a copy of everything of an installation, also while services write, and its check."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from api.cli.backups.contents import DamagedError, copy_content, is_intact, remove_unused
from api.cli.backups.databases import check_database, copy_databases
from api.cli.backups.layout import (
    BLOBS,
    CONTENTS,
    DRAFT,
    DRIVE,
    DRIVE_DUMP,
    GENERATIONS,
    OTHERS,
    SECRETS,
    THREADS_DUMP,
    Generation,
    Record,
    copy_private,
    count_blobs,
    digest_of,
    generations_in,
    malformed_in,
    remove_folder,
    schemas_of,
    sync_all,
    used_blobs,
    write_record,
)
from api.cli.backups.servers import check_dump, dump_databases, held_collector
from api.cli.backups.sources import Sources, sources_of
from api.cli.failure import CommandError, system_reason
from api.cli.progress import Progress
from api.cli.service.last_backup import note_backup
from api.cli.terminal import Terminal, format_size, visible_line
from api.cli.texts import text
from drive_server.kernel.files.file_locks import try_lock
from drive_server.kernel.files.spool import sync
from drive_server.storage.installation.service_record import running_address

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Generator

HOUSEKEEPING: Final = "housekeeping.lock"
LOCK: Final = ".lock"
WAIT_SECONDS: Final = 600
PAUSE_SECONDS: Final = 0.2
TIME: Final = "%Y-%m-%dT%H-%M-%S.%fZ"
MAX_PROBLEMS: Final = 50


def backup(arguments: Namespace) -> int:
    """Back up the installation, or check its backups. Exit code 1 if one is damaged."""
    terminal, root = Terminal(), Path(arguments.target_path)
    if arguments.verify:
        return _verify(root, terminal)
    sources = sources_of(arguments)
    _require_sources(sources, root)
    if address := running_address(sources.root):
        terminal.note(text("runs_at", url=address))
    begun = time.monotonic()
    try:
        generation, copied = _make(sources, root, arguments.keep, terminal)
    except (OSError, sqlite3.Error, SQLAlchemyError) as error:
        raise CommandError.of("backup_failed", reason=system_reason(error)) from error
    except DamagedError as error:
        raise CommandError.of("backup_blob", sha256=error) from error
    note_backup(sources.root, generation.folder)
    record = generation.record
    size = format_size(record.blob_bytes)
    seconds = f"{time.monotonic() - begun:.1f}"
    place = visible_line(str(generation.folder))
    terminal.say(
        text("backup_done", place=place, blobs=record.blobs, size=size, copied=copied, seconds=seconds), "bold"
    )
    terminal.say(text("backup_secrets", root=visible_line(str(root))), "yellow")
    return 0


def _require_sources(sources: Sources, root: Path) -> None:
    if sources.servers is None and not sources.databases[DRIVE].exists():
        raise CommandError.of("backup_nothing", root=sources.root)
    if root.absolute().is_relative_to(sources.root) or sources.root.is_relative_to(root.absolute()):
        raise CommandError.of("backup_inside", root=root)


def _make(sources: Sources, root: Path, keep: int, terminal: Terminal) -> tuple[Generation, int]:
    """Make a generation, remove the oldest ones beyond `keep`; return it, and the number of contents copied."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = root / GENERATIONS
    folder.mkdir(mode=0o700, exist_ok=True)
    sources.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as held:
        held.enter_context(_alone(root / LOCK, "backup_other"))
        held.enter_context(_alone(sources.root / HOUSEKEEPING, "backup_collector"))
        if sources.servers is not None:
            held.enter_context(held_collector(sources.servers.drive))
        # While housekeeping waits, no content is removed that the copy of the database refers to.
        for unfinished in folder.glob(f"{DRAFT}*"):
            remove_folder(unfinished)
        draft = folder / f"{DRAFT}-{os.getpid()}"
        draft.mkdir(mode=0o700)
        schemas = _copy_files(sources, draft)
        copied, blobs, size = _copy_contents(sources, root, draft, terminal)
        now = datetime.now(UTC)
        files = {path.name: digest_of(path) for path in sorted(draft.iterdir())}
        record = Record(now.isoformat(), version("drive-agent"), schemas, files, blobs, size)
        sync_all()
        write_record(draft, record)
        sync(draft)
        made = folder / now.strftime(TIME)
        draft.rename(made)
        sync(folder)
        prune(root, keep)
    return Generation(made, record), copied


def _copy_files(sources: Sources, draft: Path) -> dict[str, str]:
    """Copy all but the contents; return the newest migrations of the databases."""
    schemas = dump_databases(sources.servers, draft) if sources.servers else dict[str, str]()
    copy_databases({name: path for name, path in sources.databases.items() if path.exists()}, draft)
    for name in (*SECRETS, *OTHERS):
        with suppress(FileNotFoundError):
            copy_private(sources.root / name, draft / name)
    for path in draft.iterdir():
        sync(path)
    return schemas or schemas_of(draft)


def _copy_contents(sources: Sources, root: Path, draft: Path, terminal: Terminal) -> tuple[int, int, int]:
    """Copy the contents that the copied database refers to; return how many were new, and number and bytes of all."""
    listed = draft / (CONTENTS if sources.servers else DRIVE)
    count, size = count_blobs(listed)
    copied = 0
    (root / BLOBS).mkdir(mode=0o700, exist_ok=True)
    with Progress(terminal, text("backing_up"), count) as progress:
        for number, (sha256, length) in enumerate(used_blobs(listed), 1):
            copied += copy_content(sources.blobs, root / BLOBS, sha256, length)
            progress.update(number, count)
    return copied, count, size


def prune(root: Path, keep: int) -> None:
    """Remove the oldest generations, and the contents that only they referred to."""
    generations = generations_in(root)
    for old in generations[:-keep]:
        remove_folder(old.folder)
    used = (sha256 for generation in generations[-keep:] for sha256, _ in generation.blobs())
    remove_unused(root / BLOBS, used)


@contextmanager
def _alone(path: Path, code: str) -> Generator[None]:
    """Hold a lock; wait for who has it."""
    deadline = time.monotonic() + WAIT_SECONDS
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        while not try_lock(file):
            if time.monotonic() > deadline:
                raise CommandError.of(code)
            time.sleep(PAUSE_SECONDS)
        yield


def _verify(root: Path, terminal: Terminal) -> int:
    generations, malformed = generations_in(root), malformed_in(root)
    if not generations and not malformed:
        raise CommandError.of("backup_none", root=root)
    problems = [text("backup_malformed", name=name) for name in malformed]
    problems += [problem for generation in generations for problem in problems_of(generation, root, terminal)]
    for problem in problems[:MAX_PROBLEMS]:
        terminal.say(visible_line(problem), "red")
    if problems:
        raise CommandError.of("backup_damaged", count=len(problems))
    for generation in generations:
        size = format_size(generation.record.blob_bytes)
        terminal.say(text("backup_whole", name=generation.name, blobs=generation.record.blobs, size=size))
    return 0


def problems_of(generation: Generation, root: Path, terminal: Terminal) -> list[str]:
    """Return the problems of a generation: its files, its databases, the contents that it refers to."""
    wrong = [name for name, sha256 in generation.record.files.items() if _is_other(generation, name, sha256)]
    problems = [text("backup_file", name=f"{generation.name}/{name}") for name in wrong]
    databases = [name for name in generation.record.files if name.endswith(".db") and name not in wrong]
    problems += [
        text("backup_database", name=f"{generation.name}/{name}", reason=found)
        for name in databases
        if (found := check_database(generation.folder / name))
    ]
    dumps = [name for name in (DRIVE_DUMP, THREADS_DUMP) if name in generation.record.files and name not in wrong]
    problems += [
        text("backup_database", name=f"{generation.name}/{name}", reason=found)
        for name in dumps
        if (found := check_dump(generation.path_of(name)))
    ]
    listed = CONTENTS if generation.is_dump else DRIVE
    if listed in generation.record.files and listed not in wrong:
        problems += _damaged_contents(generation, root, terminal)
    return problems


def _damaged_contents(generation: Generation, root: Path, terminal: Terminal) -> list[str]:
    total, problems = generation.record.blobs, list[str]()
    with Progress(terminal, text("checking"), total) as progress:
        for number, (sha256, _) in enumerate(generation.blobs(), 1):
            if not is_intact(root / BLOBS, sha256):
                problems.append(text("backup_content", sha256=sha256))
            progress.update(number, total)
    return problems


def _is_other(generation: Generation, name: str, sha256: str) -> bool:
    try:
        return digest_of(generation.path_of(name)) != sha256
    except OSError:
        return True
