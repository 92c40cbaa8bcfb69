"""The headers of the protocol tus 1.0.0 (https://tus.io/protocols/resumable-upload), read strictly."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from hashlib import sha1, sha256
from typing import TYPE_CHECKING, Any, Final, cast

from drive_server.http.headers.bytes import chosen_type
from drive_server.http.headers.dates import date_of_metadata
from drive_server.kernel.errors import MalformedRequestError, ProtocolVersionError, UnsupportedContentError
from drive_server.kernel.messages import Message
from drive_server.mcp.tools.definition.arguments import MAX_NAME_CHARACTERS
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS
from drive_server.services.uploads.service import NewUpload

if TYPE_CHECKING:
    from drive_server.models.items import OnConflict

VERSION: Final = "1.0.0"
EXTENSIONS: Final = "creation,creation-with-upload,creation-defer-length,termination,expiration,checksum"
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
        raise ProtocolVersionError(Message.of("tus_version", version=VERSION))


def new_upload(headers: Headers) -> NewUpload:
    """Return the upload that the request begins. Raises `MalformedRequestError`."""
    _require_known_extensions(headers)
    header = headers.get("upload-metadata", "")
    metadata = _metadata(header)
    name = metadata.get("filename") or metadata.get("name") or ""
    parent, on_conflict = metadata.get("parent_id") or "root", metadata.get("on_conflict") or "fail"
    if not name or len(name) > MAX_NAME_CHARACTERS:
        raise _wrong(headers, "Upload-Metadata", Message.of("tus_rule.filename"))
    if len(parent) > MAX_REF_CHARACTERS or on_conflict not in {"fail", "rename", "replace"}:
        raise _malformed("Upload-Metadata", Message.of("tus_rule.place"))
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
        raise _wrong(headers, "Upload-Offset", Message.of("tus_rule.offset"))
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
        raise UnsupportedContentError(Message.of("tus_body_type", type=BODY_TYPE))


def verifier_of(headers: Headers) -> Digest | None:
    """Return the checksum in the request, None without one. Raises `MalformedRequestError`."""
    _require_known_extensions(headers)
    header = headers.get("upload-checksum")
    if header is None:
        return None
    algorithm, _, encoded = header.partition(" ")
    if algorithm not in ALGORITHMS:
        raise _malformed("Upload-Checksum", Message.of("tus_rule.algorithm", names=", ".join(ALGORITHMS)))
    return Digest(algorithm, _decoded(encoded, "Upload-Checksum"))


def _require_known_extensions(headers: Headers) -> None:
    """Refuse requests of extensions that are not here: without them the upload would become something else."""
    trailers = {one.strip().lower() for one in headers.get("trailer", "").split(",")}
    if "upload-concat" in headers:
        raise _unknown_extension("concatenation", "Upload-Concat")
    if "upload-checksum" in trailers:
        raise _unknown_extension("checksum-trailer", "Trailer: Upload-Checksum")


def _unknown_extension(extension: str, header: str) -> MalformedRequestError:
    refusal = Message.of("tus_extension", extension=extension, header=header, extensions=EXTENSIONS.replace(",", ", "))
    return MalformedRequestError(refusal, details={"extension": extension, "header": header})


def _new_length(headers: Headers) -> int | None:
    length, deferred = _number(headers, "Upload-Length"), headers.get("upload-defer-length")
    if deferred not in {None, "1"} or (length is None) == (deferred is None):
        raise _wrong(headers, "Upload-Length", Message.of("tus_rule.length"))
    return length


def _metadata(header: str) -> dict[str, str]:
    """Return the pairs of `key base64, key base64, ...`; the value may be left out."""
    if len(header) > MAX_METADATA_CHARACTERS:
        raise _malformed("Upload-Metadata", Message.of("tus_rule.size", limit=MAX_METADATA_CHARACTERS))
    pairs: dict[str, str] = {}
    for pair in header.split(",") if header.strip() else []:
        key, _, encoded = pair.strip().partition(" ")
        if not _KEY.fullmatch(key) or key in pairs:
            raise _malformed("Upload-Metadata", Message.of("tus_rule.key"))
        try:
            pairs[key] = _decoded(encoded, "Upload-Metadata").decode()
        except UnicodeDecodeError as error:
            raise _malformed("Upload-Metadata", Message.of("tus_rule.utf8")) from error
    return pairs


def _decoded(encoded: str, header: str) -> bytes:
    try:
        return b64decode(encoded.strip().encode("ascii"), validate=True)
    except (UnicodeEncodeError, Base64Error) as error:
        raise _malformed(header, Message.of("tus_rule.base64")) from error


def _number(headers: Headers, name: str) -> int | None:
    value = headers.get(name.lower())
    if value is not None and not _NUMBER.fullmatch(value):
        raise _malformed(name, Message.of("tus_rule.number"))
    return None if value is None else int(value)


def _wrong(headers: Headers, header: str, rule: Message) -> MalformedRequestError:
    """Return the refusal of a header that may also be missing."""
    if header.lower() in headers:
        return _malformed(header, rule)
    return MalformedRequestError(Message.of("header_missing", header=header, rule=rule), details={"header": header})


def _malformed(header: str, rule: Message) -> MalformedRequestError:
    return MalformedRequestError(Message.of("header_malformed", header=header, rule=rule), details={"header": header})
