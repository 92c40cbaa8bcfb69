"""Files that are attached to a PDF (ISO 32000-2, section 7.11.4): named, and read as those of mails are."""

from collections.abc import Iterator, Sequence
from typing import Any

import pypdfium2

from drive_server.knowledge.readers.mail.message import Attachment, attached_parts
from drive_server.knowledge.text.elements import Part
from drive_server.knowledge.text.omissions import Omissions


def attachment_parts(document: pypdfium2.PdfDocument, on_pages: Sequence[Any], omissions: Omissions) -> Iterator[Part]:
    """Yield the files of a document and those that lie on its pages, each under its name. Blocks."""
    of_document = [document.get_attachment(number) for number in range(document.count_attachments())]
    files = [*of_document, *(pypdfium2.PdfAttachment(one, document) for one in on_pages)]
    yield from attached_parts(map(_attachment, files), omissions)


def _attachment(file: pypdfium2.PdfAttachment) -> Attachment:
    """Return a file; without its content if that can't be had."""
    try:
        data = bytes(file.get_data())
    except pypdfium2.PdfiumError:
        data = b""
    return Attachment(file.get_name(), "", data)
