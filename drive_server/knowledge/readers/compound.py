"""Compound files (MS-CFB): documents of Office before 2007, mails of Outlook, and encrypted documents of today."""

from pathlib import Path

import olefile

from drive_server.knowledge.text.unreadable import UnreadableError

MAX_BYTES = 200_000_000
_ENCRYPTED = "EncryptedPackage"


def stream_names(path: Path) -> set[str]:
    """Return the names of the streams and storages at the top. Raises `UnreadableError` for an encrypted document."""
    with olefile.OleFileIO(str(path)) as file:
        names = {entry[0] for entry in file.listdir(streams=True, storages=True)}
    if _ENCRYPTED in names:
        raise UnreadableError("password")
    return names


def read_stream(file: "olefile.OleFileIO[str]", name: str) -> bytes:
    """Return a stream. Raises `UnreadableError` for one that is too large, `OSError` for one that is missing."""
    if file.get_size(name) > MAX_BYTES:
        raise UnreadableError("size", MAX_BYTES)
    return file.openstream(name).read()
