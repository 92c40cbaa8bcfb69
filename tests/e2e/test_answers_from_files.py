"""Answers from real documents by the built-in model, over real HTTP: figures, tables, losses, a share to leave."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from docx import Document
from openpyxl import Workbook
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from tests.e2e.waiting import wait_until_indexed

if TYPE_CHECKING:
    from tests.e2e.person import Person, Turn

STAFF = "Name,Department,Salary\nAlice,Legal,5200\nBob,Sales,4100\nCarol,Sales,4800\n"
STAFF_ZH = "姓名,部门,工资\n王伟,法务,5200\n李娜,销售,4100\n张敏,销售,4800\n"
AMOUNTS = {"1001": "1,250.00", "1002": "4,830.50", "1003": "97.20"}


def ask(person: Person, question: str, **context: Any) -> Turn:
    with person.chat(question, **context) as turn:
        turn.finish()
    return turn


def invoices() -> bytes:
    """Return three invoices as one PDF, one a page, with all their words at the page's edges."""
    out = io.BytesIO()
    canvas = Canvas(out)
    for number, amount in AMOUNTS.items():
        canvas.drawString(72, 800, f"Invoice number {number}")
        canvas.drawString(72, 780, "Northwind Trading")
        canvas.drawString(72, 30, f"Amount due: {amount} EUR")
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def report_with_a_picture() -> bytes:
    """Return a Word document with one sentence, and a picture without any text."""
    picture, out = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(picture, "PNG")
    document = Document()
    document.add_paragraph("The warehouse in Ghent stores 4,120 pallets of tiles.")
    document.add_picture(io.BytesIO(picture.getvalue()))
    document.save(out)
    return out.getvalue()


def workbook() -> bytes:
    book, out = Workbook(), io.BytesIO()
    for line in STAFF.splitlines():
        book.worksheets[0].append([int(cell) if cell.isdigit() else cell for cell in line.split(",")])
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("number", "question"),
    [
        ("1001", "What is the amount due of invoice number {}?"),
        ("1002", "What is the amount due of invoice {}?"),
        ("1003", "What is the amount due of invoice number {} in invoices.pdf?"),
    ],
)
def test_a_figure_is_that_of_the_invoice_that_the_question_names(alice: Person, number: str, question: str) -> None:
    file = alice.upload("invoices.pdf", invoices())
    wait_until_indexed(alice)
    turn = ask(alice, question.format(number))
    assert AMOUNTS[number] in turn.text, turn.text
    assert not any(other in turn.text for named, other in AMOUNTS.items() if named != number), turn.text
    citations = [one for event in turn.of("citations") for one in event["citations"]]
    assert citations, turn.text
    assert all((one["verified"], one["file_id"]) == (True, file["id"]) for one in citations)
    assert "could be read" not in turn.text


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How many pallets of tiles are stored in the warehouse in Ghent?", "Not all of report.docx could be read"),
        ("report.docx 里说 Ghent 的 warehouse 有多少 pallets？", "“report.docx”没有全部读出"),
    ],
)
def test_an_answer_from_a_document_with_a_picture_says_that_not_all_could_be_read(
    alice: Person, question: str, words: str
) -> None:
    alice.upload("report.docx", report_with_a_picture())
    wait_until_indexed(alice)
    turn = ask(alice, question)
    assert "4,120" in turn.text, turn.text
    assert words in turn.text, turn.text


def test_an_exact_quotation_of_an_attached_file_is_verified(alice: Person) -> None:
    file = alice.upload("lease.md", "# Lease\n\nThe rent is 1,250 euros a month, paid on the third working day.\n")
    turn = ask(alice, "What does this file say about the rent?", attachments=[{"file_id": file["id"]}])
    assert "1,250 euros" in turn.text, turn.text
    assert "Not verified" not in turn.text
    citations = [one for event in turn.of("citations") for one in event["citations"]]
    assert citations
    assert all(one["verified"] for one in citations), citations


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which department is Bob in, in staff.csv?", "Sales"),
        ("Which department is Bob in in staff.csv?", "Sales"),
        ("What is Bob's salary in staff.csv?", "4100"),
        ("What is the total of the salary column in staff.csv?", "14100"),
        ("What is the average salary in staff.csv?", "4700"),
        ("What is the highest salary in staff.csv?", "5200"),
        ("How many rows does staff.csv have?", "3"),
        ("What is the total of the salary column in staff.xlsx?", "14100"),
        ("Which department is Bob in, in staff.xlsx?", "Sales"),
        ("员工.csv 的工资总和是多少？", "14100"),
        ("员工.csv 的平均工资是多少？", "4700"),
        ("员工.csv 里最高的工资是多少？", "5200"),
        ("员工.csv 里李娜的工资是多少？", "4100"),
        ("员工.csv 里李娜在哪个部门？", "销售"),
        ("员工.csv 有多少行？", "3"),
    ],
)
def test_a_cell_a_total_and_a_count_are_those_of_the_table(alice: Person, question: str, answer: str) -> None:
    alice.upload("staff.csv", STAFF)
    alice.upload("staff.xlsx", workbook())
    alice.upload("员工.csv", STAFF_ZH)
    turn = ask(alice, question)
    assert answer in turn.text.replace(",", ""), turn.text
    assert turn.tools[-1] == ("query_table", "done"), turn.tools


@pytest.mark.parametrize(
    ("name", "leave", "undo"),
    [
        ("Site plans", "leave the shared folder Site plans", "undo that"),
        ("施工图", "退出共享文件夹 施工图", "撤销刚才的操作"),
    ],
)
def test_a_person_leaves_a_share_and_takes_it_back(
    alice: Person, bob: Person, name: str, leave: str, undo: str
) -> None:
    folder = alice.folder(name)
    shared = alice.http.post(f"/api/drive/items/{folder['id']}/shares", json={"email": bob.email, "role": "viewer"})
    assert shared.is_success, shared.text
    turn, thread = approved(bob, leave)
    assert not bob.http.get(f"/api/drive/items/{folder['id']}").is_success, turn.text
    turn, _ = approved(bob, undo, thread)
    assert bob.http.get(f"/api/drive/items/{folder['id']}").is_success, turn.text


def approved(person: Person, message: str, thread_id: str | None = None) -> tuple[Turn, str]:
    with person.chat(message, thread_id=thread_id) as turn:
        while (event := turn.until("approval_needed", "done", "error"))["type"] == "approval_needed":
            assert person.answer(event, "approve").is_success
    assert event["type"] == "done", event
    return turn, turn.seen[0]["thread_id"]
