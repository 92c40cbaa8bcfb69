"""`drive-agent export`: a whole drive as a folder or a zip file, and the check of one."""

from __future__ import annotations

import shutil
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from api.cli.backups.layout import sync_all
from api.cli.exports.export import DriveExport
from api.cli.exports.format.reader import opened_export
from api.cli.exports.table import item_table
from api.cli.exports.verify import lines_of, verify
from api.cli.failure import CommandError, system_reason
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, format_size, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace

ZIP: Final = ".zip"
WORK: Final = ".unfinished"
MAX_PROBLEMS: Final = 50


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
    """Export into a folder beside the zip file, which goes in at the end: an export that broke off goes on there."""
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
        raise CommandError.of("export_failed", reason=system_reason(error)) from error
    shutil.rmtree(work)
    return made


def pack(folder: Path, target: Path) -> None:
    """Put all files of a folder into a zip file, which is there whole or not at all."""
    draft = target.with_name(f"{target.name}.part")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=1, strict_timestamps=False) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                archive.write(path, path.relative_to(folder).as_posix())
    draft.chmod(0o600)
    sync_all()
    draft.replace(target)
    sync_all()


def _report(made: DriveExport, target: Path, terminal: Terminal, seconds: float) -> None:
    counts, outcomes = made.counts, made.outcomes
    place = visible_line(str(target))
    facts = {**counts, "size": format_size(counts["bytes"]), "place": place, "seconds": f"{seconds:.1f}"}
    terminal.say(text("exported", **facts), "bold")
    if counts["trashed"]:
        terminal.say(text("exported_trash", count=counts["trashed"]))
    if before := outcomes["unchanged"] + outcomes["copied"]:
        terminal.say(text("exported_before", count=before))
    for remark in made.remarks:
        terminal.say(remark, "yellow")
    terminal.say(text("exported_next", place=place), "dim")


def _verify(target: Path, terminal: Terminal) -> int:
    with opened_export(target) as found:
        findings = verify(found, terminal)
        begun = found.header.ended_at[:19].replace("T", " ")
    for line in lines_of(findings.problems, MAX_PROBLEMS):
        terminal.say(visible_line(line), "red")
    if findings.problems:
        raise CommandError.of("export_damaged", count=len(findings.problems))
    facts = {"time": begun, "files": findings.files, "size": format_size(findings.size)}
    terminal.say(text("export_whole", **facts), "bold")
    return 0
