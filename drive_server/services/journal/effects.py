"""What a change of content looks like to the person who has to approve it: a unified diff of bounded size."""

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import takewhile

import anyio

from drive_server.services.journal.recorder import ContentChange
from drive_server.services.text.source_text import decode_source
from drive_server.services.tree.names import display_name
from drive_server.storage.blobs import Blob, BlobStore

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
    """Return the unified diff of two texts, somewhat over 20,000 characters of it at most.

    Its time is bounded: a large changed region is shown as one block. `name_after`: the second text's, if another.
    """
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
