"""The part of `drive-agent doctor` about contents of files: a probe is written, read and removed where they are."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, from_url

from api.cli.commands.model_checks import Check
from api.cli.failure import system_reason
from api.cli.texts import text

if TYPE_CHECKING:
    from obstore.store import ObjectStore

NAME = "contents"
PROBE = b"drive-agent doctor"
STORE_SECONDS = 10
MAX_REASON = 200


def check_contents(url: str) -> Check:
    """Write, read and remove a probe in the store at the URL; a folder that is not there yet needs none."""
    place = place_of(url)
    try:
        store = _open(url)
        if store is None:
            return Check(NAME, "ok", text("contents_none"))
        if not _takes_a_probe(store):
            return Check.of(NAME, "fail", "contents_changed", place=place)
    except (BaseError, OSError, ValueError) as error:
        return Check.of(NAME, "fail", "contents_refused", place=place, reason=_reason(error))
    return Check(NAME, "ok", text("contents_probed", place=place))


def place_of(url: str) -> str:
    """Return where a store is, for people: the path of a folder; an address without possible secrets."""
    parts = urlsplit(url)
    return unquote(parts.path) if parts.scheme == "file" else f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def _open(url: str) -> ObjectStore | None:
    """Return the store; None for a folder that the first start will make."""
    parts = urlsplit(url)
    if parts.scheme != "file":
        patience = timedelta(seconds=STORE_SECONDS)
        return from_url(
            url,
            client_options={"timeout": patience, "connect_timeout": patience},
            retry_config={"max_retries": 1, "retry_timeout": patience},
        )
    folder = Path(unquote(parts.path))
    return LocalStore(folder) if folder.is_dir() else None


def _takes_a_probe(store: ObjectStore) -> bool:
    """Say whether the store gives back the bytes that it was given; nothing stays."""
    # The collector knows contents by names of 64 digits, and leaves any other alone.
    name = f".doctor-{token_hex(8)}"
    obstore.put(store, name, PROBE)
    try:
        return bytes(obstore.get(store, name).bytes()) == PROBE
    finally:
        obstore.delete(store, name)


def _reason(error: Exception) -> str:
    """Return the first line of the store's own reason."""
    said = system_reason(error).partition("\n")[0]
    return said if len(said) <= MAX_REASON else f"{said[:MAX_REASON]}…"
