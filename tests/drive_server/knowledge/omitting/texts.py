from __future__ import annotations

import json
from email.message import EmailMessage
from typing import TYPE_CHECKING

from tests.drive_server.knowledge.compound_file import message
from tests.drive_server.knowledge.documents import animation, picture

if TYPE_CHECKING:
    from tests.drive_server.knowledge.omitting import Samples


def _mail_with_a_program() -> tuple[str, bytes]:
    mail = EmailMessage()
    mail["Subject"] = "The installer"
    mail.set_content("It is attached.")
    mail.add_attachment(b"\x7fELF\x02\x01\x01" + bytes(200), "application", "octet-stream", filename="setup.bin")
    return "program.eml", mail.as_bytes()


def _mail_with_a_picture() -> tuple[str, bytes]:
    mail = EmailMessage()
    mail["Subject"] = "The plan"
    mail.set_content("<p>It is below.</p><img src='cid:plan'>", subtype="html")
    return "plan.eml", mail.as_bytes()


def _encrypted_mail() -> tuple[str, bytes]:
    head = b'Subject: The plan\r\nContent-Type: multipart/encrypted; boundary="b"\r\n\r\n'
    return "secret.eml", head + b"--b\r\n\r\nVersion: 1\r\n--b\r\n\r\nhQEM\r\n--b--\r\n"


def _page(body: str) -> tuple[str, bytes]:
    return "page.html", f"<html><body><p>The plan.</p>{body}</body></html>".encode()


def _notebook(output: dict[str, object]) -> tuple[str, bytes]:
    cell = {"cell_type": "code", "source": ["draw()"], "outputs": [{"output_type": "display_data", "data": output}]}
    return "chart.ipynb", json.dumps({"nbformat": 4, "cells": [cell]}).encode()


SAMPLES: Samples = {
    "html": {
        "drawing": lambda: _page("<svg><path d='M0 0'/></svg>"),
        "embedded": lambda: _page("<iframe src='https://example.org'></iframe>"),
        "equation": lambda: _page("<math><mi>E</mi></math>"),
        "picture": lambda: _page("<img src='plan.png'>"),
    },
    "image": {
        "scan": lambda: ("plan.png", picture(100, 50)),
        "frame": lambda: ("plan.gif", animation(100, 50)),
    },
    "mail": {
        "attachment": _mail_with_a_program,
        "encrypted": _encrypted_mail,
        "picture": _mail_with_a_picture,
    },
    "msg": {"attachment": lambda: ("plan.msg", message({"001A": "IPM.Note", "1000": "Attached."}, ("plan.dwg",)))},
    "notebook": {
        "embedded": lambda: _notebook({"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}),
        "picture": lambda: _notebook({"image/png": "iVBORw0KGgo=", "text/plain": ["<Figure size 1x1>"]}),
    },
}
