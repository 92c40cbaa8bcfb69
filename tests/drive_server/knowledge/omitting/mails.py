from __future__ import annotations

from email.message import EmailMessage
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.drive_server.knowledge.omitting import Samples


def _mail_with_a_program() -> tuple[str, bytes]:
    mail = EmailMessage()
    mail["Subject"] = "The installer"
    mail.set_content("It is attached.")
    mail.add_attachment(b"\x7fELF\x02\x01\x01" + bytes(200), "application", "octet-stream", filename="setup.bin")
    return "program.eml", mail.as_bytes()


SAMPLES: Samples = {"mail": {"attachment": _mail_with_a_program}}
