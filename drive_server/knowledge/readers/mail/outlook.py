"""Compound files (MS-CFB): mails of Outlook, read by unstructured, and documents of Office before 2007."""

from collections.abc import Iterator
from pathlib import Path

import olefile
from oxmsg import Message

from drive_server.knowledge.readers.mail.attachments import Attachment
from drive_server.knowledge.readers.mail.eml import mail_parts
from drive_server.knowledge.readers.office.doc import old_word_parts
from drive_server.knowledge.readers.office.ppt import old_slides_parts
from drive_server.knowledge.text.elements import Extraction, Part, UnreadableError, join, needs_password

_MAIL = "__properties_version1.0"
_ENCRYPTED = "EncryptedPackage"
_OLD_KINDS = {"WordDocument": old_word_parts, "PowerPoint Document": old_slides_parts}


def compound_extraction(path: Path) -> Extraction:
    """Return the text of a compound file by what is in it. Blocks. Raises `OSError`, or what its reader raises."""
    streams = _streams(path)
    if _ENCRYPTED in streams:
        raise needs_password()
    if _MAIL in streams:
        return join(_mail(path))
    if streams & {"Workbook", "Book"}:
        from drive_server.knowledge.readers.office.sheets import sheets_extraction  # only for this kind

        return sheets_extraction(path)
    for stream, parts in _OLD_KINDS.items():
        if stream in streams:
            with olefile.OleFileIO(str(path)) as file:
                return join(parts(file))
    raise UnreadableError("unsupported", "The file is a compound file of a kind that is not read here.")


def _streams(path: Path) -> set[str]:
    """Return the names of the streams and storages at the top."""
    with olefile.OleFileIO(str(path)) as file:
        return {entry[0] for entry in file.listdir(streams=True, storages=True)}


def _mail(path: Path) -> Iterator[Part]:
    message = Message.load(str(path))
    attachments = [
        Attachment(one.file_name or "", one.mime_type or "", one.file_bytes or b"") for one in message.attachments
    ]
    from drive_server.knowledge.readers.mail.msg import outlook_body  # loads unstructured: a second of CPU, 150 MB

    yield from mail_parts(_headers(message), outlook_body(path), attachments)


def _headers(message: Message) -> dict[str, str]:
    """Return the headers as they were sent or, for a mail that was not, what Outlook knows of them."""
    sent = message.message_headers
    recipients = ", ".join(" ".join(filter(None, (one.name, f"<{one.email_address}>"))) for one in message.recipients)
    date = message.sent_date.isoformat(" ", "seconds") if message.sent_date else ""
    found = {
        "Subject": message.subject,
        "From": message.sender or "",
        "To": recipients,
        "Cc": sent.get("Cc", ""),
        "Date": sent.get("Date") or date,
    }
    return {name: " ".join(value.split()) for name, value in found.items() if value.strip()}
