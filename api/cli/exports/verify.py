"""The check of an export: every file that the manifest names is there, with the SHA-256 that it has there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from api.cli.exports.format.manifest import MANIFEST, SUMS
from api.cli.exports.format.reader import Export, digest_of
from api.cli.exports.format.sums import read_sums
from api.cli.exports.table import item_table
from api.cli.progress import Progress
from api.cli.texts import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.cli.exports.table import ItemTable
    from api.cli.terminal import Terminal


@dataclass(slots=True)
class Findings:
    """The result of a check: how many files and bytes were read, and the problems, a sentence each."""

    files: int = 0
    size: int = 0
    problems: list[str] = field(default_factory=list[str])


def verify(export: Export, terminal: Terminal) -> Findings:
    """Read all files of an export, and compare them with its manifest and its list of hashes."""
    found = Findings()
    with item_table() as table:
        _read_sums(export, table, found)
        _check_items(export, table, found)
        total = table.connection.execute("SELECT count(*) FROM earlier").fetchone()[0]
        with Progress(terminal, text("checking"), total) as progress:
            for path, sha256 in table.connection.execute("SELECT path, sha256 FROM earlier ORDER BY path"):
                _check_file(export, path, sha256, found)
                progress.update(found.files, total)
    return found


def _read_sums(export: Export, table: ItemTable, found: Findings) -> None:
    try:
        with export.files.open(SUMS) as file:
            table.connection.executemany("INSERT OR REPLACE INTO earlier VALUES (?, ?)", read_sums(file))
    except OSError:
        found.problems.append(text("missing_file", path=SUMS))


def _check_items(export: Export, table: ItemTable, found: Findings) -> None:
    """Check that the manifest is whole, and agrees with the list of hashes."""
    for item in export.entries("items"):
        table.put(item)
        for version in item["versions"]:
            _compare(table, version, found)
    for thread in export.entries("threads"):
        for form in ("markdown", "json"):
            _compare(table, thread[form], found)
    found.problems += [text("missing_folder", item=item_id, manifest=MANIFEST) for item_id in table.orphans()]
    expected = export.header.counts
    for word, condition in (("files", "kind = 'file'"), ("folders", "kind = 'folder'")):
        if expected.get(word) != (count := table.count(condition)):
            problem = {"manifest": MANIFEST, "count": count, "what": word, "said": expected.get(word)}
            found.problems.append(text("wrong_count", **problem))


def _compare(table: ItemTable, named: dict[str, Any], found: Findings) -> None:
    query = "SELECT sha256 FROM earlier WHERE path = ?"
    row = table.connection.execute(query, (named["path"],)).fetchone()
    if row is None or row[0] != named["sha256"]:
        found.problems.append(text("disagree", path=named["path"], one=SUMS, other=MANIFEST))


def _check_file(export: Export, path: str, sha256: str, found: Findings) -> None:
    found.files += 1
    try:
        with export.files.open(path) as file:
            digest, size = digest_of(file)
    except OSError:
        found.problems.append(text("missing_file", path=path))
        return
    except Exception as error:  # noqa: BLE001 - zipfile has many for damaged files
        found.problems.append(text("unreadable_file", path=path, reason=error))
        return
    found.size += size
    if digest != sha256:
        found.problems.append(text("changed_file", path=path))


def lines_of(problems: list[str], most: int) -> Iterator[str]:
    """Yield the first problems, and how many more there are."""
    yield from problems[:most]
    if len(problems) > most:
        yield text("and_more", count=len(problems) - most)
