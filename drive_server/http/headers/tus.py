"""The headers of the protocol tus 1.0.0 (https://tus.io/protocols/resumable-upload), read strictly."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from hashlib import sha1, sha256
from typing import TYPE_CHECKING, Any, Final, cast

from drive_server.errors import MalformedRequestError, ProtocolVersionError, UnsupportedContentError
from drive_server.http.headers.bytes import chosen_type
from drive_server.http.headers.dates import date_of_metadata
from drive_server.mcp.tools.definition.arguments import MAX_NAME_CHARACTERS
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS
from drive_server.services.uploads.service import NewUpload

if TYPE_CHECKING:
    from drive_server.models.items import OnConflict

VERSION: Final = "1.0.0"
BODY_TYPE: Final = "application/offset+octet-stream"
MAX_METADATA_CHARACTERS: Final = 8192
SENT: Final = (
    "Authorization, Content-Type, Tus-Resumable, Upload-Checksum, Upload-Defer-Length, Upload-Length, "
    "Upload-Metadata, Upload-Offset, X-HTTP-Method-Override, X-Requested-With"
)
EXPOSED: Final = (
    "Content-Location, Drive-Change-Id, Location, Retry-After, Tus-Checksum-Algorithm, Tus-Extension, Tus-Max-Size, "
    "Tus-Resumable, Tus-Version, Upload-Defer-Length, Upload-Expires, Upload-Item-Id, Upload-Length, Upload-Metadata, "
    "Upload-Offset, X-Request-Id"
)
# The protocol requires SHA-1; it finds bytes broken on the way, not forged ones.
ALGORITHMS: Final[Mapping[str, Callable[[], Any]]] = {"sha1": lambda: sha1(usedforsecurity=False), "sha256": sha256}
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
_KEY = re.compile(r"[!-+\--~]+")

Headers = Mapping[str, str]


class Digest:
    """The expected checksum of the bytes of a request."""

    def __init__(self, algorithm: str, expected: bytes) -> None:
        self._digest = ALGORITHMS[algorithm]()
        self._expected = expected

    def update(self, data: bytes, /) -> None:
        """Take the next bytes."""
        self._digest.update(data)

    def matches(self) -> bool:
        """Say whether the bytes have the expected checksum."""
        return self._digest.digest() == self._expected


def require_version(headers: Headers) -> None:
    """Raise `ProtocolVersionError` unless the client says that it speaks this version."""
    if headers.get("tus-resumable") != VERSION:
        raise ProtocolVersionError(
            "This is for clients of the protocol tus.", hint=f"Send the header Tus-Resumable: {VERSION}."
        )


def new_upload(headers: Headers) -> NewUpload:
    """Return the upload that the request begins. Raises `MalformedRequestError`."""
    header = headers.get("upload-metadata", "")
    metadata = _metadata(header)
    name = metadata.get("filename") or metadata.get("name") or ""
    parent, on_conflict = metadata.get("parent_id") or "root", metadata.get("on_conflict") or "fail"
    if not name or len(name) > MAX_NAME_CHARACTERS:
        raise _malformed("Upload-Metadata", "It has to have the key filename, with a name of usual length.")
    if len(parent) > MAX_REF_CHARACTERS or on_conflict not in {"fail", "rename", "replace"}:
        raise _malformed("Upload-Metadata", "parent_id is a folder's id; on_conflict is fail, rename or replace.")
    return NewUpload(
        parent=parent,
        name=name,
        media_type=chosen_type(metadata.get("filetype", "")),
        on_conflict=cast("OnConflict", on_conflict),
        length=_new_length(headers),
        metadata=header,
        modified_at=date_of_metadata(metadata),
    )


def offset_of(headers: Headers) -> int:
    """Return where the bytes of the request begin. Raises `MalformedRequestError`."""
    offset = _number(headers, "Upload-Offset")
    if offset is None:
        raise _malformed("Upload-Offset", "Say where the bytes begin.")
    return offset


def upload_length(headers: Headers) -> int | None:
    """Return the length of the whole upload, None if it is deferred. Raises `MalformedRequestError`."""
    return _number(headers, "Upload-Length")


def content_length(headers: Headers) -> int | None:
    """Return the declared length of the body in bytes. Raises `MalformedRequestError`."""
    return _number(headers, "Content-Length")


def has_bytes(headers: Headers) -> bool:
    """Say whether the body's type is that of bytes of an upload."""
    return headers.get("content-type", "") == BODY_TYPE


def require_bytes(headers: Headers) -> None:
    """Raise `UnsupportedContentError` unless the body holds bytes of the upload."""
    if not has_bytes(headers):
        raise UnsupportedContentError("The body has another type than an upload's.", hint=f"Send it as {BODY_TYPE}.")


def verifier_of(headers: Headers) -> Digest | None:
    """Return the checksum in the request, None without one. Raises `MalformedRequestError`."""
    header = headers.get("upload-checksum")
    if header is None:
        return None
    algorithm, _, encoded = header.partition(" ")
    if algorithm not in ALGORITHMS:
        raise _malformed("Upload-Checksum", f"The algorithms are {', '.join(ALGORITHMS)}.")
    return Digest(algorithm, _decoded(encoded, "Upload-Checksum"))


def _new_length(headers: Headers) -> int | None:
    length, deferred = _number(headers, "Upload-Length"), headers.get("upload-defer-length")
    if deferred not in {None, "1"} or (length is None) == (deferred is None):
        raise _malformed("Upload-Length", "Send either Upload-Length or Upload-Defer-Length: 1.")
    return length


def _metadata(header: str) -> dict[str, str]:
    """Return the pairs of `key base64, key base64, ...`; the value may be left out."""
    if len(header) > MAX_METADATA_CHARACTERS:
        raise _malformed("Upload-Metadata", f"It may have {MAX_METADATA_CHARACTERS} characters.")
    pairs: dict[str, str] = {}
    for pair in header.split(",") if header.strip() else []:
        key, _, encoded = pair.strip().partition(" ")
        if not _KEY.fullmatch(key) or key in pairs:
            raise _malformed("Upload-Metadata", "Each key is ASCII without spaces, and stands there once.")
        try:
            pairs[key] = _decoded(encoded, "Upload-Metadata").decode()
        except UnicodeDecodeError as error:
            raise _malformed("Upload-Metadata", "The values are UTF-8 in Base64.") from error
    return pairs


def _decoded(encoded: str, header: str) -> bytes:
    try:
        return b64decode(encoded.strip().encode("ascii"), validate=True)
    except (UnicodeEncodeError, Base64Error) as error:
        raise _malformed(header, "The values are in Base64 (RFC 4648, section 4).") from error


def _number(headers: Headers, name: str) -> int | None:
    value = headers.get(name.lower())
    if value is not None and not _NUMBER.fullmatch(value):
        raise _malformed(name, "It is a number of bytes.")
    return None if value is None else int(value)


def _malformed(header: str, hint: str) -> MalformedRequestError:
    return MalformedRequestError(f"The header {header} is missing or malformed.", hint=hint)
