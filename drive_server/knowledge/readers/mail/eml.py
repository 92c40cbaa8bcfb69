"""The text of mails (eml, mht): headers, body, and attachments.

The standard library's parser is the one that unstructured's mail reader is built on; that one gives no header of a mail
without a body, fails at an unknown charset, and cuts Chinese paragraphs up.
"""

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage, MIMEPart
from itertools import islice
from pathlib import Path
from typing import Any, cast

from drive_server.knowledge.readers.mail.message import SHOWN_HEADERS, Attachment, mail_parts
from drive_server.knowledge.readers.source.html import html_parts
from drive_server.knowledge.readers.source.plain import text_elements
from drive_server.knowledge.text.decode import decode
from drive_server.knowledge.text.elements import Extraction, Part, join
from drive_server.knowledge.text.encodings import wider_encoding
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.unreadable import UnreadableError

MAX_BYTES = 200_000_000
MAX_PARTS = 2_000
"""The parts of a mail that are searched for attachments: each costs some time, and a mail with more is a bomb."""

_NAMES = {"x-gbk": "gb18030", "x-sjis": "cp932", "unicode": "utf-16", "unicode-1-1-utf-7": "utf-7"}
_LABEL = re.compile(r"(?<==\?)([\w-]+)(?=(?:\*[\w-]*)?\?[bqBQ]\?)|(?<=\*=)([\w-]+)(?='[\w-]*')")
"""The name of the charset in an encoded word (RFC 2047) or a parameter (RFC 2231)."""

_MAIL, _INVITATION = "message/rfc822", "text/calendar"
_UNNAMED = {_MAIL: "mail.eml", _INVITATION: "invitation.ics"}
_FOLD = re.compile(rb"\r?\n[ \t]")  # lines of calendars are folded anywhere, also within words (RFC 5545, section 3.1)
_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")


def mail_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a mail. Blocks."""
    if path.stat().st_size > MAX_BYTES:
        raise UnreadableError("size", MAX_BYTES)
    with path.open("rb") as file:
        mail = cast("EmailMessage", email.message_from_binary_file(file, policy=_Policy()))
    headers = {name: value for name in ("Subject", *SHOWN_HEADERS) if (value := _header(mail, name))}
    if mail.get_content_type() in _ENCRYPTED:
        omissions.add("encrypted")
        return join(mail_parts(headers, [], [], omissions))
    if not headers and mail.defects:
        raise UnreadableError("mail")
    return join(mail_parts(headers, _body_parts(mail, omissions), _attachments(mail), omissions))


def _body_parts(mail: EmailMessage, omissions: Omissions) -> list[Part]:
    """Return the parts of the body in HTML or, if there is nothing in it, in plain text."""
    parts = list(html_parts(_body(mail, "html"), omissions=omissions))
    if parts:
        return parts
    plain = _body(mail, "plain").replace("\r\n", "\n")
    elements = text_elements(plain, len(plain))
    return [Part("text" if element.kind == "title" else element.kind, element.text) for element in elements]


class _Policy(email.policy.EmailPolicy):
    """Reads headers by the encoding that programs mean by a label, and unlabelled bytes by their look."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        """Return the header's value, decoded."""
        if not value.isascii():
            decoded = decode(value.encode("utf-8", "surrogateescape"))
            value = decoded.text if decoded else value
        return super().header_fetch_parse(name, _LABEL.sub(lambda label: _charset(label[0]), value))


def _charset(label: str) -> str:
    """Return the encoding that programs mean by the label of a charset."""
    return _NAMES.get(label.lower()) or wider_encoding(label)


def _header(mail: EmailMessage, name: str) -> str:
    """Return a header's text, empty if there is none; one that breaks the standard comes as it is written."""
    try:
        return " ".join(str(mail.get(name, "")).split())
    except (ValueError, LookupError, IndexError, AttributeError, TypeError):  # its parser's errors for bad headers
        raw = next((value for key, value in mail.raw_items() if key.lower() == name.lower()), "")
        return " ".join(str(raw).split())


def _body(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body(preferencelist=(kind,))
    return "" if part is None else _text(part)


def _text(part: MIMEPart) -> str:
    """Return the text of a part in its charset or, if that is unknown or wrong, in the one that its bytes suggest."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    charset = part.get_content_charset("utf-8")
    try:
        return data.decode(_charset(charset))
    except (UnicodeError, LookupError):
        decoded = decode(data)
        return decoded.text if decoded else data.decode("utf-8", errors="replace")


def _attachments(mail: EmailMessage) -> Iterator[Attachment]:
    """Yield files, mails and invitations within a mail, but not its body and the images that the body shows."""
    body = [mail.get_body(preferencelist=(kind,)) for kind in ("html", "plain")]
    for part in islice(_leaves(mail), MAX_PARTS):
        kind = part.get_content_type()
        name = " ".join((part.get_filename() or _UNNAMED.get(kind, "")).split())
        is_shown = part.get_content_maintype() == "image" and part.get_content_disposition() != "attachment"
        if name and part not in body and not (is_shown and "Content-ID" in part):
            yield Attachment(name, kind, _content(part))


def _leaves(mail: EmailMessage) -> Iterator[MIMEPart]:
    """Yield the parts that hold no others, mails within the mail among them."""
    waiting: list[MIMEPart] = [mail]
    while waiting:
        part = waiting.pop()
        if part.get_content_type() == _MAIL or not part.is_multipart():
            yield part
        else:
            waiting.extend(reversed(list(part.iter_parts())))


def _content(part: MIMEPart) -> bytes:
    if part.get_content_type() == _MAIL and part.is_multipart():
        return b"".join(map(bytes, part.iter_parts()))
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return b""
    return _FOLD.sub(b"", data) if part.get_content_type() == _INVITATION else data
