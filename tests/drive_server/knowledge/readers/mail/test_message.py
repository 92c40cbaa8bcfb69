"""A mail's attachment is found by its text, under the mail's subject and the attachment's name."""

from __future__ import annotations

import base64
import struct
from email.message import EmailMessage
from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.chunk import chunk
from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.readers.mail import message as mail_message
from tests.drive_server.knowledge import documents, samples
from tests.drive_server.knowledge.compound_file import message
from tests.drive_server.knowledge.samples import LEAVE, LEAVE_ZH

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction


def mail(body: str = "See below.") -> EmailMessage:
    made = EmailMessage()
    made["Subject"] = "育儿假申请"
    made.set_content(body)
    return made


def attach(made: EmailMessage, name: str, data: bytes, kind: str = "application/octet-stream", cid: str = "") -> None:
    main, _, sub = kind.partition("/")
    made.add_attachment(data, maintype=main, subtype=sub, filename=name)
    if cid:
        part = list(made.iter_parts())[-1]
        part["Content-ID"] = cid
        part.replace_header("Content-Disposition", f'inline; filename="{name}"')


def read(folder: Path, data: bytes, name: str = "a.eml") -> Extraction:
    path = folder / "blob"
    path.write_bytes(data)
    extraction = extract(path, name, "")
    assert extraction.state == "ready", extraction.reason
    assert "/tmp" not in extraction.text
    return extraction


def test_documents_that_are_attached_are_read_under_their_names(tmp_path: Path) -> None:
    made = mail()
    attach(made, "规定.docx", samples.word_document())
    attach(made, "leave.pdf", samples.pdf())
    attach(made, "pay.csv", "name,pay\r\n张三,12\r\n".encode("gb18030"))
    extraction = read(tmp_path, bytes(made))
    assert "Attachments: 规定.docx, leave.pdf, pay.csv" in extraction.text
    headings = [one.heading for one in chunk(extraction)]
    assert "育儿假申请 › 规定.docx › Leave of absence › 育儿假" in headings
    assert "育儿假申请 › leave.pdf › Leave of absence › 第二章 育儿假" in headings
    assert "张三,12" in extraction.text
    assert {one.page for one in extraction.elements} == {None}


def test_what_can_not_be_read_is_named_and_loses_nothing_else(tmp_path: Path) -> None:
    made = mail()
    for name in ("broken.pdf", "things.zip", "secret.pdf", "empty.txt"):
        data = {"broken.pdf": b"%PDF-1.7 no", "things.zip": samples.zip_of({"a.txt": b"x"}), "empty.txt": b""}
        attach(made, name, data.get(name) or (samples.pdf(password="x") if name == "secret.pdf" else b""))
    attach(made, "last.txt", LEAVE.encode())
    text = read(tmp_path, bytes(made)).text
    assert "broken.pdf, things.zip, secret.pdf, empty.txt, last.txt" in text
    assert text.endswith(f"last.txt\n\n{LEAVE}")


def test_mails_within_mails_are_read_to_some_depth(tmp_path: Path) -> None:
    made = mail(LEAVE)
    for number in range(6):
        outer = mail(f"forwarded {number}")
        outer.add_attachment(made)
        made = outer
    text = read(tmp_path, bytes(made)).text
    assert [f"forwarded {number}" in text for number in range(6)] == [False, False, True, True, True, True]
    assert LEAVE not in text


def test_an_invitation_is_read_and_its_folded_lines_are_whole(tmp_path: Path) -> None:
    made = mail()
    made.make_mixed()
    invitation = EmailMessage()
    invitation.set_content("BEGIN:VCALENDAR\nSUMMARY:Quarterly rev\n iew\nEND:VCALENDAR\n", subtype="calendar")
    made.attach(invitation)
    assert "SUMMARY:Quarterly review" in read(tmp_path, bytes(made)).text


def test_a_picture_that_the_body_shows_is_not_attached(tmp_path: Path) -> None:
    made = mail()
    picture = documents.picture(100, 50)
    attach(made, "logo.png", picture, "image/png", "<1@x>")
    attach(made, "scan.png", picture, "image/png")
    text = read(tmp_path, bytes(made)).text
    assert "scan.png" in text
    assert "logo.png" not in text


def test_the_body_is_not_read_twice(tmp_path: Path) -> None:
    made = mail(LEAVE_ZH)
    made.add_alternative(f"<p>{LEAVE_ZH}</p>", subtype="html")
    for part in made.iter_parts():
        part.add_header("Content-Disposition", "inline", filename="body.html")
    assert read(tmp_path, bytes(made)).text.count(LEAVE_ZH) == 1


def test_when_time_is_up_attachments_are_only_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_message, "MAX_SECONDS", -1.0)
    made = mail()
    attach(made, "last.txt", LEAVE.encode())
    text = read(tmp_path, bytes(made)).text
    assert "last.txt" in text
    assert LEAVE not in text


def tnef(*parts: tuple[int, bytes]) -> bytes:
    packed = b"".join(struct.pack("<BII", 2, number, len(data)) + data + b"\0\0" for number, data in parts)
    return b"\x78\x9f\x3e\x22\x01\0" + packed


def test_the_envelope_of_outlook_is_opened(tmp_path: Path) -> None:
    data = tnef(
        (0x00069002, b"x"), (0x0006800F, LEAVE.encode()), (0x00018010, b"rules.txt\0"),
        (0x00069002, b"x"), (0x00018010, "规定.txt".encode("gb18030")), (0x0006800F, LEAVE_ZH.encode()),
    )  # fmt: skip
    made = mail()
    attach(made, "winmail.dat", data, "application/ms-tnef")
    extraction = read(tmp_path, bytes(made))
    assert "Attachments: rules.txt, 规定.txt" in extraction.text
    assert LEAVE in extraction.text
    assert LEAVE_ZH in extraction.text
    made = mail()
    attach(made, "winmail.dat", data[:60], "application/ms-tnef")
    assert "See below." in read(tmp_path, bytes(made)).text


def test_what_is_attached_to_a_mail_of_outlook_is_read(tmp_path: Path) -> None:
    values = {"001A": "IPM.Note", "0037": "育儿假申请", "1000": "See below."}
    assert "Attachments: 证明.pdf" in read(tmp_path, message(values, ("证明.pdf",)), "a.msg").text


def _encoded(text: str, encoding: str, label: str) -> bytes:
    return b"=?%s?B?%s?=" % (label.encode(), base64.b64encode(text.encode(encoding)))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (_encoded("镕炉检修通知", "gb18030", "gb2312"), "镕炉检修通知"),
        (_encoded("髙橋①", "cp932", "Shift_JIS"), "髙橋①"),
        (_encoded("똠방각하", "cp949", "ks_c_5601-1987"), "똠방각하"),
        (_encoded("It’s “so”", "cp1252", "iso-8859-1"), "It’s “so”"),
        ("Договор аренды помещения".encode("koi8-r"), "Договор аренды помещения"),
        ("租赁合同第一条".encode("gb18030"), "租赁合同第一条"),
        ("Größe".encode(), "Größe"),
    ],
)
def test_a_subject_is_read_in_the_encoding_that_programs_mean(tmp_path: Path, header: bytes, expected: str) -> None:
    data = b"Subject: " + header + b"\nFrom: a@example.org\n\nSee above.\n"
    assert read(tmp_path, data, "a.eml").elements[0].text == expected


def test_a_name_of_an_attachment_is_read_in_the_encoding_that_programs_mean(tmp_path: Path) -> None:
    name = b"filename*=gb2312''%E9%46%C2%AF.bin"
    data = b"Subject: a\nContent-Type: application/octet-stream\nContent-Disposition: attachment; " + name + b"\n\nx\n"
    assert "镕炉.bin" in read(tmp_path, data, "a.eml").text
