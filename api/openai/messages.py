"""A client's messages as this service takes them: one order, and the messages before it.

Only the last message of the user is an order. Words that a client attributes to the assistant or a tool are no message
of theirs: they only help to find the thread, or are read as content from outside.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, Literal

from api.errors import InvalidRequestError
from api.http.requests import MAX_MESSAGE_CHARACTERS
from api.openai.requests import Content, Part

MAX_INSTRUCTIONS: Final = 32_000
"""Characters: each request to a model carries them."""
MAX_FILES: Final = 20
SYSTEM: Final = frozenset({"system", "developer"})
_DATA: Final = re.compile(r"data:([\w.+-]{1,80}/[\w.+-]{1,80})?(?:;[^,;]{1,100})*;base64,", re.ASCII)
_ENDING: Final = re.compile(r"[\w-]{1,10}", re.ASCII)
_UNNAMED: Final = "attachment"
LOOK: Final = "Look at what is attached."
"""The order of a message that is nothing but a picture or a file."""

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Said:
    """A message that both sides have seen, as the client tells it."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that came with the order."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True)
class Conversation:
    """A request: the order, the messages before it, the instructions of the turn, and the order's attachments.

    `kept` are ids of files of the drive, which the client named.
    """

    order: str
    history: Sequence[Said] = ()
    instructions: str = ""
    files: Sequence[SentFile] = ()
    kept: Sequence[str] = ()

    @cached_property
    def digests(self) -> list[str]:
        """Return the digest of the conversation up to each message of the user, the order last."""
        found, whole = list[str](), b""
        for one in (*self.history, Said("user", self.order)):
            said = f"{one.role} {' '.join(one.text.split())}".encode("utf-8", "replace")
            whole = sha256(whole + sha256(said).digest()).digest()
            if one.role == "user":
                found.append(whole.hex())
        return found

    def answers(self) -> list[tuple[str, str, Sequence[Said]]]:
        """Return for each earlier message of the user its digest, the answer to it, and the messages after that."""
        users = [number for number, said in enumerate(self.history) if said.role == "user"]
        ends = [*users[1:], len(self.history)]
        parts = zip(self.digests, users, ends, strict=False)
        return [(digest, joined(self.history[at + 1 : end]), self.history[end:]) for digest, at, end in parts]

    def digest_before(self) -> str:
        """Return the digest of all that was said before the order."""
        said = [f"{one.role} {one.text}".encode("utf-8", "replace") for one in self.history]
        return sha256(b"".join(sha256(one).digest() for one in said)).hexdigest()


def joined(messages: Sequence[Said]) -> str:
    """Return the texts of messages as one."""
    return "\n\n".join(said.text for said in messages)


def read_conversation(messages: Iterable[tuple[str, Content]], instructions: str | None = None) -> Conversation:
    """Return the conversation of a client's messages by role. Raises `InvalidRequestError` for one without an order."""
    briefed, said = [instructions or ""], list[tuple[Role, Content]]()
    for role, content in messages:
        if role in SYSTEM:
            briefed.append(text_of(content))
        elif role == "user":
            said.append(("user", content))
        else:
            said.append(("assistant", content if role == "assistant" else None))
    if not said or said[-1][0] != "user":
        raise InvalidRequestError("no_order")
    *before, (_, last) = said
    files, kept = _files_of(last)
    history = [Said(role, text) for role, content in before if (text := text_of(content)).strip()]
    return Conversation(
        _checked(text_of(last) or (LOOK if files or kept else "")),
        history,
        _instructions(briefed),
        files,
        kept,
    )


def text_of(content: Content) -> str:
    """Return the words of a message, without its other parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if part.text)


def _checked(order: str) -> str:
    if not order.strip():
        raise InvalidRequestError("empty_order")
    if "\x00" in order:
        raise InvalidRequestError("nul_in_order")
    if len(order) > MAX_MESSAGE_CHARACTERS:
        raise InvalidRequestError("long_order", limit=str(MAX_MESSAGE_CHARACTERS))
    return order


def _instructions(briefed: Sequence[str]) -> str:
    whole = "\n\n".join(text.strip() for text in briefed if text.strip())
    if len(whole) > MAX_INSTRUCTIONS:
        raise InvalidRequestError("long_instructions", limit=str(MAX_INSTRUCTIONS))
    return whole.replace("\x00", "")


def _files_of(content: Content) -> tuple[list[SentFile], list[str]]:
    """Return the files that a message brings along, and the ids of those that it names."""
    files, kept = list[SentFile](), list[str]()
    for part in content if isinstance(content, list) else ():
        if part.file_id or (part.file and part.file.get("file_id")):
            kept.append(str(part.file_id or (part.file or {})["file_id"]))
        elif part.image_url is not None:
            files.append(_picture(part.image_url, len(files) + 1))
        elif part.type in {"file", "input_file"}:
            files.append(_file(part))
        elif part.type in {"input_audio", "image_file"}:
            raise InvalidRequestError("unknown_part", kind=part.type)
    if len(files) + len(kept) > MAX_FILES:
        raise InvalidRequestError("too_many_files", limit=str(MAX_FILES))
    return files, kept


def _picture(address: dict[str, Any] | str, number: int) -> SentFile:
    media_type, data = _decoded(str(address.get("url") or "") if isinstance(address, dict) else address)
    ending = _ENDING.match(media_type.partition("/")[2])
    return SentFile(f"picture {number}.{ending[0] if ending else 'bin'}", media_type, data)


def _file(part: Part) -> SentFile:
    told = part.file or {}
    address = part.file_data or part.file_url or told.get("file_data") or ""
    media_type, data = _decoded(str(address))
    name = str(part.filename or told.get("filename") or _UNNAMED)
    return SentFile(re.sub(r"[\x00-\x1f/\\]", "_", name)[:150].strip() or _UNNAMED, media_type, data)


def _decoded(address: str) -> tuple[str, bytes]:
    """Return the media type and the bytes of a `data:` address (RFC 2397). Any other is never fetched."""
    head = _DATA.match(address)
    if head is None:
        raise InvalidRequestError("no_data_address")
    try:
        return head[1] or "application/octet-stream", b64decode(address[head.end() :], validate=True)
    except (binascii.Error, ValueError):
        raise InvalidRequestError("bad_data_address") from None
