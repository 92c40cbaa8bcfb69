"""One export into a folder: begun, gone on with after a break, brought up to date, and whole with its manifest."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from api.cli.backups.layout import sync_all
from api.cli.exports.contents import PART, Contents
from api.cli.exports.conversations import export_threads
from api.cli.exports.format.layout import DEEP, Layout, manifest_entry
from api.cli.exports.format.manifest import MANIFEST, STATE, SUMS, Header, write_manifest
from api.cli.exports.format.reader import FolderFiles, digest_of, opened_export
from api.cli.exports.format.sums import Sums, read_sums
from api.cli.exports.memories import export_memories
from api.cli.failure import CommandError, system_reason
from api.cli.progress import Progress
from api.cli.texts import TEXTS, text
from drive_server.kernel.files.inner_paths import OuterPathError, inner_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from api.cli.client import ServiceClient
    from api.cli.exports.contents import Outcome, Source
    from api.cli.exports.format.reader import Export, ExportFiles
    from api.cli.exports.table import ItemTable
    from api.cli.terminal import Terminal

EARLIER_SUMS: Final = ".earlier-SHA256SUMS"
README: Final = "README.txt"
TRIES: Final = 3


class DriveExport:
    """The export of the caller's drive into a folder. `earlier` is an export from which contents may be taken, too."""

    def __init__(self, client: ServiceClient, root: Path, table: ItemTable, terminal: Terminal) -> None:
        self._client = client
        self._root = root
        self._table = table
        self._terminal = terminal
        self._files: ExportFiles = FolderFiles(root)
        self.outcomes = Counter[str]()
        self.remarks: list[str] = []
        self.counts: dict[str, int] = {}

    def run(self, earlier: Export | None = None) -> None:
        """Make the export. It is whole, and has a manifest, only at the end. Raises `CommandError`."""
        try:
            self._run(earlier)
        except OSError as error:
            raise CommandError.of("export_failed", reason=system_reason(error)) from error

    def _run(self, earlier: Export | None) -> None:
        state = self._begin(earlier)
        self._collect()
        layout = Layout(self._table)
        layout.run()
        if layout.deep:
            self.remarks.append(text("deep", count=layout.deep, folder=DEEP))
        self._fetch(earlier)
        self._conclude(state)

    def _begin(self, earlier: Export | None) -> dict[str, str]:
        """Make the folder one that is no whole export, and remember the files of an earlier one."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = self._read_state(earlier)
        if not state:
            if any(self._root.iterdir()):
                raise CommandError.of("export_place", place=self._root)
            state = {"export_id": uuid4().hex}
        (self._root / STATE).write_text(json.dumps(state), encoding="utf-8")
        if (self._root / SUMS).exists():
            (self._root / SUMS).replace(self._root / EARLIER_SUMS)
        (self._root / MANIFEST).unlink(missing_ok=True)
        return state

    def _read_state(self, earlier: Export | None) -> dict[str, str]:
        """Return the state of the export that is in the folder, whole or not; empty if there is none."""
        try:
            return json.loads((self._root / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            pass
        if earlier is not None:
            return {"export_id": earlier.header.export_id}
        try:
            with opened_export(self._root) as export:
                return {"export_id": export.header.export_id}
        except CommandError:
            return {}

    def _collect(self) -> None:
        """Read the list of the drive. Items that were moved while it was read may need another look."""
        for _ in range(TRIES):
            for item in self._client.pages("/api/drive/export"):
                self._table.put(item)
            if not self._table.orphans():
                return
        for item_id in self._table.orphans():
            self._table.set_parent(item_id, None)
            self.remarks.append(text("orphan", item=item_id))

    def _fetch(self, earlier: Export | None) -> None:
        total, size = self._table.connection.execute("SELECT count(*), coalesce(sum(size), 0) FROM files").fetchone()
        self._read_earlier(earlier)
        contents = Contents(self._client, self._root, lambda sha256: self._earlier_copy(earlier, sha256))
        with Progress(self._terminal, text("exporting"), total, size) as progress:
            done_bytes = 0

            def done(file: Source, outcome: Outcome) -> None:
                nonlocal done_bytes
                done_bytes += file[2]
                self.outcomes[outcome] += 1
                if outcome == "gone":
                    self.remarks.append(text("gone_meanwhile", path=file[0]))
                    self._table.connection.execute("DELETE FROM files WHERE path = ?", (file[0],))
                progress.update(self.outcomes.total(), total, done_bytes)

            contents.fetch_all(self._waiting_files(), done)

    def _waiting_files(self) -> Iterator[Source]:
        """Yield the files a part at a time: their table changes meanwhile."""
        after = ""
        query = "SELECT path, sha256, size, moment FROM files WHERE path > ? ORDER BY path LIMIT 500"
        while found := self._table.connection.execute(query, (after,)).fetchall():
            yield from found
            after = found[-1][0]

    def _read_earlier(self, earlier: Export | None) -> None:
        source, path = (earlier.files, SUMS) if earlier is not None else (self._files, EARLIER_SUMS)
        try:
            with source.open(path) as file:
                self._table.connection.executemany("INSERT OR IGNORE INTO earlier VALUES (?, ?)", read_sums(file))
        except OSError:
            return

    def _earlier_copy(self, earlier: Export | None, sha256: str) -> tuple[ExportFiles, str] | None:
        found = self._table.connection.execute(
            "SELECT path FROM earlier WHERE sha256 = ? LIMIT 1", (sha256,)
        ).fetchone()
        return (earlier.files if earlier is not None else self._files, found[0]) if found else None

    def _conclude(self, state: dict[str, str]) -> None:
        """Write the data beside the drive's own files, then the hashes, then the manifest."""
        begun = datetime.now(UTC).isoformat()
        owner = str(self._client.get("/api/auth/me")["email"])
        threads = self._root / f"{MANIFEST}.threads{PART}"
        with (self._root / f"{SUMS}{PART}").open("w", encoding="utf-8", newline="\n") as sums_file:
            sums = Sums(sums_file)
            sums.add_files(self._table)
            sums.write(self._root, README, _guide().encode())
            thread_count = self._write_threads(threads, sums)
            memories = export_memories(self._client, self._root, sums)
            self.counts = self._counted(thread_count, memories)
            ended = datetime.now(UTC).isoformat()
            header = Header(state["export_id"], begun, ended, owner, self.counts)
            draft = self._root / f"{MANIFEST}{PART}"
            with draft.open("w", encoding="utf-8", newline="\n") as file:
                write_manifest(file, header, self._entries(), _lines_of(threads))
            with draft.open("rb") as written:
                sums.add(MANIFEST, digest_of(written)[0])
        threads.unlink()
        self._remove_old()
        sync_all()
        (self._root / f"{SUMS}{PART}").replace(self._root / SUMS)
        draft.replace(self._root / MANIFEST)
        for name in (STATE, EARLIER_SUMS):
            (self._root / name).unlink(missing_ok=True)
        sync_all()

    def _write_threads(self, path: Path, sums: Sums) -> int:
        count = 0
        with path.open("w", encoding="utf-8") as file:
            for entry in export_threads(self._client, self._root, sums):
                file.write(json.dumps(entry) + "\n")
                count += 1
        return count

    def _entries(self) -> Iterator[dict[str, Any]]:
        for item in self._table.by_depth():
            entry = manifest_entry(self._table, item)
            entry["versions"] = [version for version in entry["versions"] if version["path"]]
            if entry["kind"] == "folder" or entry["versions"]:
                yield entry

    def _counted(self, threads: int, memories: int) -> dict[str, int]:
        table = self._table
        return {
            "files": table.count("kind = 'file'"),
            "folders": table.count("kind = 'folder'"),
            "trashed": table.count("trash_id IS NOT NULL"),
            "contents": table.connection.execute("SELECT count(DISTINCT sha256) FROM files").fetchone()[0],
            "bytes": table.connection.execute("SELECT coalesce(sum(size), 0) FROM files").fetchone()[0],
            "threads": threads,
            "memories": memories,
        }

    def _remove_old(self) -> None:
        """Remove the files that an earlier export listed and this one does not have."""
        for path, _ in _sums_in(self._root / f"{SUMS}{PART}"):
            self._table.connection.execute("DELETE FROM earlier WHERE path = ?", (path,))
        for (path,) in self._table.connection.execute("SELECT path FROM earlier").fetchall():
            if path != MANIFEST:
                with suppress(OuterPathError):
                    target = inner_path(self._root, path)
                    target.unlink(missing_ok=True)
                    _remove_empty(target.parent, self._root)
        for draft in self._root.rglob(f"*{PART}"):
            if draft.parent != self._root:
                draft.unlink()


def _guide() -> str:
    """Return a guide to the export, in every language: other people may read it."""
    return "\n\n".join("\n".join(TEXTS.value("export_guide", name)) for name in TEXTS.languages) + "\n"


def _sums_in(path: Path) -> Iterator[tuple[str, str]]:
    with path.open("rb") as file:
        yield from read_sums(file)


def _lines_of(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
