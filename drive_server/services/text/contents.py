"""Contents between the blob store and the services: bytes in, text out, within the limits."""

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

import anyio

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import InvalidInputError, TooLargeError, UnsupportedContentError
from drive_server.kernel.messages import Message
from drive_server.knowledge.media_types import DEFAULT, is_plain_text, is_text, looks_like_text, media_type_of
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.knowledge.text.decode import decode
from drive_server.knowledge.text.elements import Extraction
from drive_server.knowledge.text.unreadable import UnreadableKind, unreadable_message
from drive_server.knowledge.writers.render import (
    MAX_RENDERED_CHARACTERS,
    QUICK_CHARACTERS,
    can_render,
    render_work,
)
from drive_server.services.text.excerpts import run_in_thread
from drive_server.services.tree.names import display_name
from drive_server.storage.blobs import HEAD_BYTES, Blob, BlobStore
from drive_server.storage.tables.items import VersionRow

_MARKS = {
    "utf-8-sig": ((codecs.BOM_UTF8, "utf-8"),),
    "utf-16": ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")),
    "utf-32": ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be")),
}


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text, its encoding and the byte order mark before it. `lossy`: some bytes were no text and are replaced."""

    text: str
    encoding: str
    mark: bytes = b""
    lossy: bool = False

    def encode(self, text: str) -> bytes:
        """Return another text in the same encoding, or in UTF-8 if that has no such characters."""
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError:
            return text.encode()


def decode_source(data: bytes) -> SourceText | None:
    """Return the text, the same as the index has of it; None for bytes that are none. Blocks on large ones."""
    decoded = decode(data)
    if decoded is None:
        return None
    for mark, encoding in _MARKS.get(decoded.encoding, ()):
        if data.startswith(mark):
            return SourceText(decoded.text, encoding, mark, decoded.lossy)
    return SourceText(decoded.text, decoded.encoding, lossy=decoded.lossy)


# Hashed and decoded sooner than a thread could be asked to.
FEW_BYTES = 16_384
RENDER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Contents:
    """Reads and stores contents; `max_text_bytes` bounds a text held in memory."""

    blobs: BlobStore
    text_source: TextSource
    max_text_bytes: int

    async def text_of(self, name: str, version: VersionRow) -> str:
        """Return the readable text of the content. Raises `UnsupportedContentError` and `TooLargeError`."""
        if is_plain_text(version.media_type):
            return (await self._decoded(name, version)).text
        extracted = await self.text_source.text(version.blob, name, version.media_type)
        if extracted.state != "ready":
            reason = unreadable_message(extracted.omissions) or extracted.reason
            raise UnsupportedContentError(
                Message.of("not_readable", reason=reason)
                if reason
                else Message.of("no_readable_text", name=display_name(name)),
                details={"state": extracted.state, "media_type": version.media_type},
            )
        return extracted.text

    async def extraction_of(self, name: str, version: VersionRow, *, placed: bool = True) -> Extraction:
        """Return the same text with its elements; of plain text only if `placed`. Raises as `text_of` does."""
        text = await self.text_of(name, version)
        is_plain = is_plain_text(version.media_type)
        if placed or not is_plain:
            extracted = await self.text_source.text(version.blob, name, version.media_type)
            if extracted.text == text:
                return extracted
        return Extraction("ready", text=text, exact=is_plain)

    async def editable_text_of(self, name: str, version: VersionRow) -> SourceText:
        """Return the source text with its encoding. Raises `UnsupportedContentError` if it is no text file."""
        require_editable(name, version.media_type)
        source = await self._decoded(name, version)
        if source.lossy:
            raise _undecodable(name, version)
        return source

    def encoded(self, text: str, encode: Callable[[str], bytes] = str.encode) -> bytes:
        """Return the bytes of a text from outside. Raises `InvalidInputError` and `TooLargeError`."""
        try:
            data = encode(text)
        except UnicodeEncodeError as error:
            raise InvalidInputError("The text is not Unicode.", hint="Remove lone surrogates from it.") from error
        self._require_fits(len(data))
        return data

    async def written(self, media_type: str, text: str) -> bytes:
        """Return the bytes of a file of this type: the text, or the Office document that it makes as Markdown.

        Raises `InvalidInputError` and `TooLargeError`.
        """
        data = self.encoded(text)
        if not can_render(media_type):
            return data
        work = partial(render_work, text)
        if len(text) <= QUICK_CHARACTERS:
            made = await anyio.to_thread.run_sync(work, Path(), "", media_type, abandon_on_cancel=True)
        else:
            made = await self.text_source.run_without_file(work, _unmade, media_type, RENDER_SECONDS)
        if made is None:
            raise TooLargeError(Message.of("document_too_large", limit=MAX_RENDERED_CHARACTERS))
        return made

    async def store(self, actor: Actor, data: bytes) -> Blob:
        """Store the bytes, or for a dry run only work out their blob."""
        if actor.dry_run:
            return Blob(await digest(data), len(data))
        return await self.blobs.put_bytes(data)

    async def media_type(self, name: str, declared: str | None, blob: Blob) -> str:
        """Return the media type of an uploaded content: as given, by its name, else by its first bytes."""
        media_type = media_type_of(name, declared)
        if media_type != DEFAULT or declared:
            return media_type
        head = blob.head
        if head is None:
            head = b"".join([chunk async for chunk in self.blobs.stream(blob.hash, 0, HEAD_BYTES)])
        return media_type_of(name, content_is_text=looks_like_text(head))

    async def _decoded(self, name: str, version: VersionRow) -> SourceText:
        self._require_fits(version.size)
        data = await self.blobs.read(version.blob)
        if len(data) <= FEW_BYTES:
            decoded = decode_source(data)
        else:
            decoded = await run_in_thread(len(data), decode_source, data)
        if decoded is None:
            raise _undecodable(name, version)
        return decoded

    def _require_fits(self, size: int) -> None:
        if size > self.max_text_bytes:
            raise TooLargeError(Message.of("text_too_large"), details={"limit": self.max_text_bytes})


def _unmade(kind: UnreadableKind, count: int) -> bytes | None:
    del kind, count
    return None


async def digest(data: bytes) -> str:
    """Return the SHA-256 of the bytes in hex, worked out in a thread unless they are few."""
    if len(data) <= FEW_BYTES:
        return sha256(data).hexdigest()
    return await anyio.to_thread.run_sync(lambda: sha256(data).hexdigest(), abandon_on_cancel=True)


def require_editable(name: str, media_type: str) -> None:
    """Raise `UnsupportedContentError` unless the file's bytes are text."""
    if can_render(media_type):
        raise UnsupportedContentError(
            Message.of("only_as_whole", name=display_name(name)), details={"media_type": media_type}
        )
    if not is_text(media_type):
        raise UnsupportedContentError(
            Message.of("not_text", name=display_name(name), media_type=media_type), details={"media_type": media_type}
        )


def require_writable(name: str, media_type: str) -> None:
    """Raise `UnsupportedContentError` unless the file can be made of a text as a whole."""
    if not can_render(media_type):
        require_editable(name, media_type)


def _undecodable(name: str, version: VersionRow) -> UnsupportedContentError:
    return UnsupportedContentError(
        Message.of("unknown_encoding", name=display_name(name)), details={"media_type": version.media_type}
    )
