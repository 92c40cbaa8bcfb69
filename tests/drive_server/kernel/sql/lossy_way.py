"""A way to the database's server that loses the answer to a COMMIT, and may be closed from then on."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import make_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

COMMIT = b"COMMIT\0"
BYTES = 65_536


class LossyWay:
    """Passes on what comes. `loses`: the next COMMIT arrives, and its answer does not; `reaches` False: not even that.
    With `after` it is that of a transaction that has said this.

    `is_closed` from then on, if it `closes`: new connections end at once.
    """

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self.loses = self.closes = self.is_closed = False
        self.reaches, self.after = True, b""
        self._open: set[asyncio.Task[Any]] = set()

    async def end(self) -> None:
        """End all connections."""
        for task in (tasks := [*self._open]):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what a client and the server say, until one of them ends."""
        task = asyncio.create_task(self._pass_on(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_closed:
            writer.close()
            return
        from_server, to_server = await asyncio.open_unix_connection(self._socket)
        answers = asyncio.create_task(self._answer(from_server, writer))
        is_meant = False
        try:
            while said := await reader.read(BYTES):
                is_meant = is_meant or bool(self.after and self.after in said)
                if self.loses and COMMIT in said and (is_meant or not self.after):
                    self.loses, self.is_closed = False, self.closes
                    answers.cancel()
                    await asyncio.wait({answers})
                    if self.reaches:
                        to_server.write(said)
                        await from_server.read(BYTES)
                    break
                is_meant = is_meant and COMMIT not in said
                to_server.write(said)
        except ConnectionError:
            pass  # the client ended without a word
        finally:
            answers.cancel()
            for each in (to_server, writer):
                each.close()

    @staticmethod
    async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while said := await reader.read(BYTES):
                writer.write(said)
        writer.close()


@asynccontextmanager
async def lossy_way(url: str) -> AsyncGenerator[tuple[str, LossyWay]]:
    """Yield the URL of the same database by way of a proxy, and the proxy."""
    parsed = make_url(url)
    folder = conninfo_to_dict(parsed.set(drivername="postgresql").render_as_string(hide_password=False))["host"]
    way = LossyWay(str(Path(str(folder)) / ".s.PGSQL.5432"))
    serving = await asyncio.start_server(way.accept, "127.0.0.1", 0)
    port = serving.sockets[0].getsockname()[1]
    try:
        yield str(parsed.set(host="127.0.0.1", port=port, query={"sslmode": "disable"})), way
    finally:
        serving.close()
        await way.end()
