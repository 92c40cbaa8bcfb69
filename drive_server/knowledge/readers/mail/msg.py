"""Mails of Outlook (.msg; MS-OXMSG), whose bodies unstructured reads. Loading this takes a second of CPU and 150 MB."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from oxmsg import Message

from drive_server.kernel.text.sentences import split_sentences, split_words
from drive_server.knowledge.readers.mail.message import Attachment, mail_parts
from drive_server.knowledge.text.elements import ElementKind, Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions

_TOKENIZER = "unstructured.nlp.tokenize"
_NO_DETECTION = [""]  # unstructured guesses the language of every document unless it is given one
_KINDS: dict[str, ElementKind] = {
    "Title": "title",
    "ListItem": "list_item",
    "Table": "table",
    "TableChunk": "table",
    "CodeSnippet": "code",
}
"""The kinds of elements by unstructured's names of them; its others (addresses, headers, formulas, ...) are text."""


def tag_words(text: str) -> list[tuple[str, str]]:
    """Tag every word as a verb: without a tagger any of them may be one, and a paragraph without a verb is no prose."""
    return [(word, "VB" if word[0].isalpha() else ".") for word in split_words(text)]


def _replace_tokenizer() -> None:
    """Put a stand-in in place of unstructured's tokenizer, which downloads a spaCy model and has no setting for it."""
    os.environ["DO_NOT_TRACK"] = "1"
    os.environ["UNSTRUCTURED_DISABLE_NOTICE"] = "1"
    module = ModuleType(_TOKENIZER)
    module.__dict__.update(sent_tokenize=split_sentences, word_tokenize=split_words, pos_tag=tag_words)
    sys.modules.setdefault(_TOKENIZER, module)


_replace_tokenizer()

from lxml import html as lxml_html  # noqa: E402 - after the tokenizer, as the following
from unstructured.documents.elements import Element as Found  # noqa: E402
from unstructured.partition.msg import partition_msg  # noqa: E402


def msg_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a mail. Blocks. Raises errors of unstructured for a file that it can't read."""
    message = Message.load(str(path))
    attachments = [
        Attachment(one.file_name or "", one.mime_type or "", one.file_bytes or b"") for one in message.attachments
    ]
    return join(mail_parts(_headers(message), _body(path), attachments, omissions))


def _headers(message: Message) -> dict[str, str]:
    """Return the headers as they were sent or, for a mail that was not sent, as Outlook has them."""
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


def _body(path: Path) -> Iterator[Part]:
    """Yield the parts of the body. A title without a depth is a guess by its words, and is taken as text."""
    for element in partition_msg(str(path), process_attachments=False, languages=_NO_DETECTION):
        kind = _KINDS.get(type(element).__name__, "text")
        depth = element.metadata.category_depth
        if kind == "title" and depth is None:
            kind = "text"
        text = _table_text(element) if kind == "table" else element.text
        yield Part(kind, text.strip(), level=min(6, (depth or 0) + 1) if kind == "title" else 0)


def _table_text(element: Found) -> str:
    """Return a table row by row, its cells between bars; unstructured's own text runs them together."""
    markup = element.metadata.text_as_html
    if not markup:
        return element.text
    rows: list[Any] = lxml_html.fragment_fromstring(markup).xpath(".//tr")
    lines = (" | ".join(" ".join(cell.text_content().split()) for cell in row.xpath("./td|./th")) for row in rows)
    return "\n".join(line for line in lines if line.strip(" |"))
