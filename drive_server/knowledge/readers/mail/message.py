"""The parts of a mail of any format: headers, body, and its attachments, each read as a file of its own."""

import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from drive_server.knowledge.readers.contained import contained_parts, read_contained
from drive_server.knowledge.text.elements import Part
from drive_server.knowledge.text.omissions import Omissions

MAX_SECONDS = 45.0
"""After this time no further attachment is begun, so that the mail itself is never lost to its attachments."""

SHOWN_HEADERS = ("From", "To", "Cc", "Date")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file within a mail."""

    name: str
    media_type: str
    data: bytes


def mail_parts(
    headers: Mapping[str, str], body: Iterable[Part], attachments: Iterable[Attachment], omissions: Omissions
) -> Iterator[Part]:
    """Yield the subject as the title, the other headers, the body, and the attachments, each under its name. Blocks."""
    if "Subject" in headers:
        yield Part("title", headers["Subject"], level=1)
    yield Part("text", "\n".join(f"{name}: {headers[name]}" for name in SHOWN_HEADERS if name in headers))
    yield from body
    yield from attached_parts(attachments, omissions)


def attached_parts(attachments: Iterable[Attachment], omissions: Omissions) -> Iterator[Part]:
    """Yield the names of attachments, and then the parts of each under its name. Blocks for `MAX_SECONDS` or more."""
    ends_at = time.monotonic() + MAX_SECONDS
    found = list(_flat(attachments))
    names = [attachment.name for attachment in found if attachment.name]
    if names:
        yield Part("text", f"Attachments: {', '.join(names)}")
    for attachment in found:
        extraction = (
            read_contained(attachment.name, attachment.media_type, attachment.data)
            if time.monotonic() < ends_at
            else None
        )
        if extraction is None or extraction.state != "ready":
            omissions.add("attachment")
            continue
        omissions.add_all(extraction.omissions)
        if extraction.elements:
            yield Part("title", attachment.name, level=2)
            yield from contained_parts(extraction, 2)


def _flat(attachments: Iterable[Attachment]) -> Iterator[Attachment]:
    """Yield the attachments, and the files in Outlook's envelope (winmail.dat) instead of the envelope."""
    for attachment in attachments:
        if is_tnef(attachment.data):
            yield from (Attachment(name, "", data) for name, data in unpack_tnef(attachment.data))
        else:
            yield attachment


_SIGNATURE = b"\x78\x9f\x3e\x22"
_HEADER = struct.Struct("<BII")  # level, attribute, length; a checksum of two bytes follows the data
_KEY_BYTES = _CHECKSUM_BYTES = 2
_BODY, _RENDER_DATA, _TITLE, _DATA = 0x0002800C, 0x00069002, 0x00018010, 0x0006800F


def is_tnef(data: bytes) -> bool:
    """Return whether data begins as Outlook's envelope winmail.dat (MS-OXTNEF)."""
    return data.startswith(_SIGNATURE)


def unpack_tnef(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files in an envelope with their names; its plain text has the name "". Stops where it is cut off."""
    name, content = "", b""
    for attribute, value in _attributes(data):
        if attribute == _BODY:
            yield "", value.rstrip(b"\0")
        elif attribute == _RENDER_DATA:  # begins an attachment
            if content:
                yield name, content
            name, content = "", b""
        elif attribute == _TITLE:
            name = _text(value)
        elif attribute == _DATA:
            content = value
    if content:
        yield name, content


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    position = len(_SIGNATURE) + _KEY_BYTES
    while position + _HEADER.size <= len(data):
        _, attribute, length = _HEADER.unpack_from(data, position)
        start = position + _HEADER.size
        yield attribute, data[start : start + length]
        position = start + length + _CHECKSUM_BYTES


def _text(value: bytes) -> str:
    value = value.split(b"\0")[0]
    for encoding in ("utf-8", "gb18030"):
        try:
            return value.decode(encoding)
        except UnicodeError:
            continue
    return value.decode("latin-1")
