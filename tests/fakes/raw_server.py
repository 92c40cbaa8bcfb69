"""An HTTP server that sends exactly the bytes it is given, also those that no framework would send."""

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def chunked(*pieces: bytes) -> bytes:
    """Return the pieces as chunks of a body (RFC 9112, 7.1), without its last one."""
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)


def whole(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Return an answer of known length."""
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass(frozen=True)
class Sent:
    """The answer to a request: its `parts`, the second and later ones once there may be `more`, and its end.

    `closes`: the connection is closed after them. `stalls`: nothing more comes.
    """

    parts: Sequence[bytes]
    closes: bool = False
    stalls: bool = False


@dataclass
class RawServer:
    """The script and the record: the head and the body of each request, and how many connections were opened.

    `arrived` is released with each request, `left` is set when a client has closed a connection that ends or stalls.
    """

    url: str = ""
    replies: list[Sent] = field(default_factory=list[Sent])
    heads: list[str] = field(default_factory=list[str])
    bodies: list[bytes] = field(default_factory=list[bytes])
    opened: int = 0
    more: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        self.opened += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await self._answer(reader, writer):
                pass
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        await self._take(reader)
        reply = self.replies.pop(0)
        for number, part in enumerate(reply.parts):
            if number:
                await self.more.wait()
            writer.write(part)
            await writer.drain()
        if reply.closes:
            writer.write_eof()
        if reply.closes or reply.stalls:
            await reader.read()
            self.left.set()
        return not (reply.closes or reply.stalls)

    async def _take(self, reader: asyncio.StreamReader) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next((line for line in head.lower().split("\r\n") if line.startswith("content-length:")), ":0")
        self.bodies.append(await reader.readexactly(int(length.partition(":")[2])))
        self.heads.append(head)
        self.arrived.release()


@asynccontextmanager
async def listening(serve: Serve, **options: Any) -> AsyncGenerator[asyncio.Server]:
    """Serve on a free port until the end of the block; no connection outlives it, nor the loop."""
    writers: list[asyncio.StreamWriter] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await serve(reader, writer)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, **options)
    try:
        yield server
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)


@asynccontextmanager
async def raw_server(tls: ssl.SSLContext | None = None) -> AsyncGenerator[RawServer]:
    """Serve on a free port until the end of the block."""
    scripted = RawServer()
    async with listening(scripted.serve, backlog=256, ssl=tls) as server:
        scripted.url = f"http{'s' if tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield scripted


def certificate(folder: Path) -> Path:
    """Write a key and a certificate of its own for 127.0.0.1, and return the file."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=models.example")
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    made = builder.add_extension(address, critical=False).sign(key, hashes.SHA256())
    none, pem = serialization.NoEncryption(), serialization.Encoding.PEM
    path = folder / "service.pem"
    path.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, none) + made.public_bytes(pem))
    return path
