"""`drive-agent export`: a whole drive as a folder or a zip file, and the check of one."""

from __future__ import annotations

import shutil
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from api.cli.exports.export import DriveExport
from api.cli.exports.reader import opened_export
from api.cli.exports.sums import sync_all
from api.cli.exports.table import item_table
from api.cli.exports.verify import lines_of, verify
from api.cli.failure import CommandError
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, format_size, visible_line

if TYPE_CHECKING:
    from argparse import Namespace

ZIP: Final = ".zip"
WORK: Final = ".unfinished"
MOST_PROBLEMS: Final = 50


def export(arguments: Namespace) -> int:
    """Export the drive, or check an export. Exit code 1 if anything is wrong with it."""
    terminal, target = Terminal(), Path(arguments.target_path)
    if arguments.verify:
        return _verify(target, terminal)
    begun = time.monotonic()
    if target.suffix.lower() == ZIP:
        made = _export_zip(arguments, target, terminal)
    else:
        made = _export_folder(arguments, target, terminal)
    _report(made, target, terminal, time.monotonic() - begun)
    return 0


def _export_folder(arguments: Namespace, target: Path, terminal: Terminal) -> DriveExport:
    with connected(arguments, terminal) as client, item_table() as table:
        made = DriveExport(client, target, table, terminal)
        made.run()
    return made


def _export_zip(arguments: Namespace, target: Path, terminal: Terminal) -> DriveExport:
    """Export into a folder beside the zip file, which goes in at the end: what broke off goes on there."""
    work = target.with_name(target.name + WORK)
    with connected(arguments, terminal) as client, item_table() as table:
        made = DriveExport(client, work, table, terminal)
        if target.exists():
            with opened_export(target) as earlier:
                made.run(earlier)
        else:
            made.run()
    try:
        pack(work, target)
    except OSError as error:
        raise CommandError(
            f"{target} can't be written: {error.strerror or error}.", hint="Run the same command again: it goes on."
        ) from error
    shutil.rmtree(work)
    return made


def pack(folder: Path, target: Path) -> None:
    """Put all files of a folder into a zip file, which is there whole or not at all."""
    draft = target.with_name(f"{target.name}.part")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=1, strict_timestamps=False) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    draft.chmod(0o600)
    sync_all()
    draft.replace(target)
    sync_all()


def _report(made: DriveExport, target: Path, terminal: Terminal, seconds: float) -> None:
    counts, outcomes = made.counts, made.outcomes
    terminal.say(
        f"Exported {counts['files']} files and {counts['folders']} folders ({format_size(counts['bytes'])}), "
        f"{counts['threads']} threads and {counts['memories']} memories to {visible_line(str(target))} "
        f"in {seconds:.1f} s.",
        "bold",
    )
    if counts["trashed"]:
        terminal.say(f"{counts['trashed']} of the items are from the trash.")
    if outcomes["unchanged"] or outcomes["copied"]:
        terminal.say(f"{outcomes['unchanged'] + outcomes['copied']} contents were there already.")
    for remark in made.remarks:
        terminal.say(remark, "yellow")
    terminal.say(f"`drive-agent export --verify {visible_line(str(target))}` checks it, `import` restores it.", "dim")


def _verify(target: Path, terminal: Terminal) -> int:
    with opened_export(target) as found:
        findings = verify(found, terminal)
        begun = found.header.ended_at[:19].replace("T", " ")
    for line in lines_of(findings.problems, MOST_PROBLEMS):
        terminal.say(visible_line(line), "red")
    if findings.problems:
        raise CommandError(
            f"The export is damaged: {len(findings.problems)} problems.", hint="Export again, to the same place."
        )
    terminal.say(
        f"The export of {begun} UTC is whole: {findings.files} files ({format_size(findings.size)}) with their hashes.",
        "bold",
    )
    return 0
