"""Bytes of unfinished uploads as objects beside the contents: each request adds some, whichever process it comes to.

No multipart upload of S3: its key has to be known at the beginning, and a content's is the hash of all of its bytes.
"""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from secrets import token_hex
from typing import Final

import obstore
from obstore.store import ObjectStore

FOLDER: Final = ".uploads"
NONCE_BYTES: Final = 8
DIGITS: Final = 16


class PartialObjects:
    """The objects of all uploads, by the uploads' ids. Its methods block, and raise obstore's errors."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def put(self, upload_id: str, start: int, data: bytes) -> str:
        """Store bytes that begin at `start`, and return their place, which is a new one each time."""
        place = f"{FOLDER}/{upload_id}/{start:0{DIGITS}}-{token_hex(NONCE_BYTES)}"
        obstore.put(self._store, place, data)
        return place

    def read(self, place: str) -> bytes:
        """Return the bytes at a place."""
        return bytes(obstore.get(self._store, place).bytes())

    def remove(self, places: Iterable[str]) -> None:
        """Remove the objects at these places; one that is gone already is no error."""
        for place in places:
            with suppress(FileNotFoundError):
                obstore.delete(self._store, place)

    def remove_all(self, upload_id: str) -> None:
        """Remove all objects of an upload, also those that a killed process never recorded."""
        listed = obstore.list(self._store, f"{FOLDER}/{upload_id}")
        self.remove([meta["path"] for found in listed for meta in found])

    def untouched_since(self, before: float) -> list[str]:
        """Return the ids of uploads without a new object since that time (POSIX seconds)."""
        newest: defaultdict[str, float] = defaultdict(float)
        for found in obstore.list(self._store, FOLDER):
            for meta in found:
                upload_id = meta["path"].split("/")[1]
                newest[upload_id] = max(newest[upload_id], meta["last_modified"].timestamp())
        return [upload_id for upload_id, at in newest.items() if at < before]
