"""The effect of a rehearsed change: the difference of contents, and the items that it touches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import takewhile
from typing import Any, Final

import anyio
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.models.changes import Touch
from drive_server.services.journal.recorder import TREES, ContentChange, Entry, Recorder, touched_items
from drive_server.services.text.contents import decode_source
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import BATCH, NodeView, count_below, locate_many
from drive_server.storage.blobs import Blob, BlobStore
from drive_server.storage.tables.sharing import LinkRow, ShareRow

MAX_DIFF_CHARACTERS = 20_000
MAX_DIFFED_BYTES = 10_000_000
MAX_DIFFED_LINES = 2_000
CONTEXT_LINES = 3
NO_NEWLINE = "\\ No newline at end of file\n"
CUT_MARK = "\n… the diff goes on; this is its beginning."


async def unified_diff_of(blobs: BlobStore, contents: Sequence[ContentChange]) -> str | None:
    """Return the unified diff of all the contents, cut at 20,000 characters (it says so); None without contents."""
    parts: list[str] = []
    room = MAX_DIFF_CHARACTERS
    for content in contents:
        if room <= 0:
            break
        before = await _load(blobs, content.before, None)
        after = await _load(blobs, content.after, content.data)
        part = await anyio.to_thread.run_sync(_diff, content, before, after, abandon_on_cancel=True)
        room -= len(part)
        parts.append(part)
    if not parts:
        return None
    text = "".join(parts)
    return text if len(text) <= MAX_DIFF_CHARACTERS else text[:MAX_DIFF_CHARACTERS] + CUT_MARK


def unified_text_diff(name: str, before: str, after: str, name_after: str | None = None) -> str:
    """Return the unified diff of two texts, somewhat over 20,000 characters of it at most."""
    old, new = _lines(before), _lines(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    changed = max(len(old), len(new)) - head - tail
    label = display_name(name)
    label_after = label if name_after is None else display_name(name_after)
    if changed <= MAX_DIFFED_LINES:
        start, end = max(0, head - CONTEXT_LINES), max(0, tail - CONTEXT_LINES)
        body = _shifted(
            unified_diff(old[start : len(old) - end], new[start : len(new) - end], label, label_after), start
        )
    else:
        body = _block(label, label_after, head, old[head : len(old) - tail], new[head : len(new) - tail])
    return _joined(body)


async def _load(blobs: BlobStore, blob: Blob | None, data: bytes | None) -> bytes | None:
    if data is not None or blob is None:
        return data or b""
    return await blobs.read(blob.hash) if blob.size <= MAX_DIFFED_BYTES else None


def _diff(content: ContentChange, before: bytes | None, after: bytes | None) -> str:
    old = decode_source(before) if before is not None else None
    new = decode_source(after) if after is not None else None
    if old is None and new is not None and content.data is not None:
        return (
            f"{display_name(content.name)}: its whole content becomes\n{unified_text_diff(content.name, '', new.text)}"
        )
    if old is None or new is None:
        size = content.before.size if content.before else 0
        return (
            f"{display_name(content.name)}: {size:,} bytes become {content.after.size:,} bytes (no text to compare)\n"
        )
    return unified_text_diff(content.name, old.text, new.text)


def _lines(text: str) -> list[str]:
    *whole, rest = text.split("\n")
    lines = [f"{line}\n" for line in whole]
    return [*lines, f"{rest}\n{NO_NEWLINE}"] if rest else lines


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _shifted(lines: Iterator[str], offset: int) -> Iterator[str]:
    """Make the line numbers of the hunks those of the whole text."""
    for line in lines:
        yield _renumbered(line, offset) if line.startswith("@@ ") else line


def _renumbered(header: str, offset: int) -> str:
    def moved(span: str) -> str:
        line, comma, count = span[1:].partition(",")
        return f"{span[0]}{int(line) + offset}{comma}{count}"

    _, old, new, _ = header.split(" ", 3)
    return f"@@ {moved(old)} {moved(new)} @@\n"


def _block(label: str, label_after: str, head: int, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    yield f"--- {label}\n"
    yield f"+++ {label_after}\n"
    yield f"@@ -{head + 1},{len(old)} +{head + 1},{len(new)} @@\n"
    yield from (f"-{line}" for line in old)
    yield from (f"+{line}" for line in new)


def _joined(lines: Iterator[str]) -> str:
    """Join just as much as will be shown."""
    parts: list[str] = []
    length = 0
    for line in lines:
        parts.append(line)
        length += len(line)
        if length > MAX_DIFF_CHARACTERS:
            break
    return "".join(parts)


MAX_TOUCHED: Final = 1_000
MAX_COUNTED_FOLDERS: Final = 50


@dataclass(frozen=True, slots=True)
class _Move:
    """The folder that an item was in before the change, and its name then; None: it is new, or that did not change."""

    is_new: bool
    parent_before: str | None
    named_before: str | None = None


async def touches_of(recorder: Recorder) -> tuple[Touch, ...] | None:
    """Return the items that the change touches, with its effects in the session but not committed. Call after a flush.

    None where that is unknown: more than 1,000 items, or one that the caller does not see. Of a tree that is copied
    it is the topmost item.
    """
    entries = [entry for entry in recorder.entries() if entry["table"] != TREES]
    ids = touched_items(entries)
    if len(ids) > MAX_TOUCHED:
        return None
    moves = _moves(entries)
    parents = {move.parent_before for move in moves.values() if move.parent_before}
    nodes = await locate_many(recorder.session, recorder.actor.principal, [*ids, *parents])
    if not ids <= nodes.keys():
        return None
    looking = _TouchBuilder(recorder, nodes, moves)
    seen_by_others = await _with_access(recorder.session, looking.places_of(ids))
    counts = await _counts(recorder.session, [nodes[key] for key in ids if key not in moves or not moves[key].is_new])
    return tuple(looking.touch(key, seen_by_others, counts.get(key, 0)) for key in sorted(ids))


@dataclass(frozen=True, slots=True)
class _TouchBuilder:
    recorder: Recorder
    node: Mapping[str, NodeView]
    moves: Mapping[str, _Move]

    def places_of(self, ids: Iterable[str]) -> set[str]:
        """Return the items and all folders that they are in after the change."""
        return {place for key in ids for place in (key, *self.node[key].ancestors)}

    def before(self, key: str) -> tuple[str, ...] | None:
        """Return the folders that the item was in; None if it was nowhere, or where the caller does not see."""
        move = self.moves.get(key, _Move(is_new=False, parent_before=None))
        if move.is_new:
            return None
        if move.parent_before is None:
            return self.node[key].ancestors
        parent = self.node.get(move.parent_before)
        return (parent.id, *parent.ancestors) if parent else None

    def touch(self, key: str, seen_by_others: set[str], below: int) -> Touch:
        item = self.node[key]
        is_mine = item.row.owner_id == self.recorder.actor.user_id
        before = self.before(key)
        reached = {key, *item.ancestors} - {key, *before} if before is not None else {key, *item.ancestors}
        return Touch(
            id=key,
            name=display_name(item.row.name),
            path=display_name(item.path),
            items=1 + below,
            mine=is_mine,
            inside=item.ancestors,
            was_inside=before,
            others=not is_mine or item.shared or not seen_by_others.isdisjoint({key, *item.ancestors}),
            gains=bool(reached & seen_by_others) or (before is None and not is_mine),
            was_named=self.moves[key].named_before if key in self.moves else None,
        )


def _moves(entries: Sequence[Entry]) -> dict[str, _Move]:
    """Return of each item that is new, was moved or renamed, where it was and its name, before any of its changes."""
    found: dict[str, _Move] = {}
    for entry in reversed([entry for entry in entries if entry["table"] == "nodes"]):
        before: Mapping[str, Any] | None = entry["before"]
        later = found.get(entry["id"], _Move(is_new=False, parent_before=None))
        if before is None:
            found[entry["id"]] = _Move(is_new=True, parent_before=None)
        elif before.keys() & {"parent_id", "name"}:
            parent = before.get("parent_id", later.parent_before)
            found[entry["id"]] = _Move(False, parent, before.get("name", later.named_before))
    return found


async def _with_access(session: AsyncSession, places: set[str]) -> set[str]:
    """Return those of the places to which somebody was given a role, or a link."""
    found: set[str] = set()
    ordered = sorted(places)
    for start in range(0, len(ordered), BATCH):
        batch = ordered[start : start + BATCH]
        shares = select(ShareRow.node_id).where(ShareRow.node_id.in_(batch))
        links = select(LinkRow.node_id).where(LinkRow.node_id.in_(batch))
        found.update(await session.scalars(shares.union(links)))
    return found


async def _counts(session: AsyncSession, nodes: Sequence[NodeView]) -> dict[str, int]:
    """Return how many live items are below each folder that was there before, of the first 50."""
    folders = [item.id for item in nodes if item.row.kind == "folder" and item.row.trash_id is None]
    return {key: await count_below(session, key) for key in folders[:MAX_COUNTED_FOLDERS]}
