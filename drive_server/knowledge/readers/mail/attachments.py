"""What is attached to a mail: read as files of their own, and told as parts of the mail."""

import tempfile
import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.readers.mail.tnef import is_tnef, unpacked
from drive_server.knowledge.text.elements import Extraction, Part

MAX_BYTES = 50_000_000
"""Larger attachments are only named: each is written to a file for its reader."""

MOST_SECONDS = 45.0
"""After this time no further attachment is begun, so that the mail itself is never lost to what hangs on it."""

MOST_DEPTH = 3
"""How deep mails may be attached to mails."""

_depth: ContextVar[int] = ContextVar("_depth", default=0)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file within a mail."""

    name: str
    media_type: str
    data: bytes


def attached_parts(attachments: Iterable[Attachment]) -> Iterator[Part]:
    """Yield the names of the attachments, and the text of those that can be read, each under its name. Blocks."""
    ends_at = time.monotonic() + MOST_SECONDS
    found = list(_flat(attachments))
    names = [attachment.name for attachment in found if attachment.name]
    if names:
        yield Part("text", f"Attachments: {', '.join(names)}")
    for attachment in found:
        extraction = _read(attachment) if time.monotonic() < ends_at else None
        if extraction and extraction.state == "ready" and extraction.elements:
            yield Part("title", attachment.name, level=2)
            yield from _below(extraction)


def _flat(attachments: Iterable[Attachment]) -> Iterator[Attachment]:
    """Yield the attachments, and in the place of Outlook's envelope (winmail.dat) what is in it."""
    for attachment in attachments:
        if is_tnef(attachment.data):
            yield from (Attachment(name, "", data) for name, data in unpacked(attachment.data))
        else:
            yield attachment


def _read(attachment: Attachment) -> Extraction | None:
    if not attachment.data or len(attachment.data) > MAX_BYTES or _depth.get() >= MOST_DEPTH:
        return None
    token = _depth.set(_depth.get() + 1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "attachment")
            path.write_bytes(attachment.data)
            return extract(path, attachment.name, attachment.media_type)
    finally:
        _depth.reset(token)


def _below(extraction: Extraction) -> Iterator[Part]:
    """Yield what was read as it stands below the attachment's name; its places are not places of the mail."""
    for element in extraction.elements:
        text = extraction.text[element.start : element.end] if extraction.exact else element.text
        yield Part(element.kind, text, level=min(6, element.level + 2) if element.kind == "title" else 0)
