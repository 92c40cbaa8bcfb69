"""A LanceDB connection, loaded and opened at its first use, which takes seconds of CPU and 100 MB of memory."""

import importlib
import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread

SEEN_AFTER = timedelta(seconds=1)
"""How soon a process sees the writes of another one."""


STORES: Final = {"s3": "AWS_", "s3+ddb": "AWS_", "az": "AZURE_", "abfs": "AZURE_", "abfss": "AZURE_", "gs": "GOOGLE_"}
"""The prefixes of the variables with the credentials and the endpoint of an object store, by the scheme of its URLs."""

LIBRARY: Final = "LANCE"
SYSTEM: Final = frozenset({"TMPDIR", "TMP", "TEMP", "SYSTEMROOT"})
NETWORK: Final = frozenset({"HOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_DIR", "SSL_CERT_FILE"})
"""Variables that the clients of object stores read too."""


def store_environment(url: str) -> dict[str, str]:
    """Return the variables of this process that LanceDB needs in another one: no other store's credentials."""
    scheme, separator, _ = url.partition("://")
    prefixes = (LIBRARY, STORES.get(scheme.lower(), LIBRARY))
    names = SYSTEM | NETWORK if separator else SYSTEM
    return {
        name: value for name, value in os.environ.items() if name.upper() in names or name.upper().startswith(prefixes)
    }


class Lance:
    """A connection to a URI. Its methods raise LanceDB's errors."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connecting = anyio.Lock()
        self._connection: Any = None

    async def names(self) -> list[str]:
        """Return the names of all tables; of an index in which nothing was ever written, without loading LanceDB."""
        if self._connection is None and await anyio.to_thread.run_sync(is_unwritten, self.url):
            return []
        return list((await (await self._connected()).list_tables()).tables)

    async def open(self, name: str) -> Any:
        """Return a table that exists."""
        return await (await self._connected()).open_table(name)

    async def create(self, name: str, schema: Any) -> Any:
        """Return a new, empty table."""
        return await (await self._connected()).create_table(name, schema=schema)

    async def drop(self, names: Iterable[str]) -> None:
        """Remove tables."""
        for name in names:
            await (await self._connected()).drop_table(name)

    def forget(self) -> None:
        """Connect anew at the next use, with empty caches; its present users may go on."""
        self._connection = None
        self._connecting = anyio.Lock()

    def close(self) -> None:
        """Disconnect; the next use connects again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    async def _connected(self) -> Any:
        async with self._connecting:
            if self._connection is None:
                lancedb = await anyio.to_thread.run_sync(_load)
                self._connection = await lancedb.connect_async(self.url, read_consistency_interval=SEEN_AFTER)
            return self._connection


def is_unwritten(url: str) -> bool:
    """Return whether the URL is a local folder that is empty or absent."""
    folder = Path(url)
    return "://" not in url and (not folder.exists() or (folder.is_dir() and not any(folder.iterdir())))


def _load() -> Any:
    # Its log goes to standard error at "info" and says of each new table that it did not exist before.
    os.environ.setdefault("LANCE_LOG", "error")
    return importlib.import_module("lancedb")
