"""Cells, counts of rows and rankings of tables, and figures of one invoice among several, by the offline model."""

from collections.abc import AsyncGenerator

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor, Drive
from graph.drive.connections import ConnectionPool
from graph.offline.documents import named_number, parts_of, read_sentences
from graph.offline.model import OfflineChatModel
from tests.drive_server.mcp.tools.test_tables import stored_sheets
from tests.graph.assistant import Assistant, Seen, assemble, person
from tests.graph.offline.shared_drive import asked_about, in_new_thread

STAFF = "name,department,salary\nAnn,R&D,12000\nBob,Sales,9800\nCarl,Sales,8000\n"
STAFF_ZH = "姓名,部门,工资\n张三,研发,12000\n李四,销售,9800\n王五,销售,8000\n"
PEOPLE = "id,name\n" + "".join(f"{number},person {number}\n" for number in range(159))
INVOICES = "".join(
    f"# Invoice {number}\n\nInvoice number: {number}\nCustomer: {name}\nAmount due: {amount} EUR\n\n"
    for number, name, amount in ((1001, "Alpha", "250.00"), (1002, "Beta", "431.50"), (1003, "Gamma", "99.90"))
)
JOINED = (
    "Acme Invoice number 6 Amount due: 5 EUR Acme Invoice number 7 Amount due: 9 EUR Acme Invoice number 8 "
    "Amount due: 4 EUR"
)
INVOICES_ZH = "发票号码：2001\n应付金额：11元\n\n发票号码：2003\n应付金额：33元\n"


FILES = {
    "staff.csv": STAFF,
    "员工.csv": STAFF_ZH,
    "people159.csv": PEOPLE,
    "invoices.md": INVOICES,
    "发票.txt": INVOICES_ZH,
}


@pytest.fixture(scope="module")
async def of_the_module(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Assistant]:
    async with asked_about(FILES, tmp_path_factory.mktemp("asked")) as assistant:
        yield assistant


@pytest.fixture
def reader(of_the_module: Assistant) -> Assistant:
    """An assistant at the drive with the files, which questions only read."""
    return in_new_thread(of_the_module)


@pytest.fixture
def assistant(real_pool: ConnectionPool, saver: AsyncSqliteSaver, actor: Actor) -> Assistant:
    """An assistant at a drive of its own."""
    return assemble(OfflineChatModel(), real_pool, saver, person(actor))


def places(seen: Seen) -> list[str]:
    """Return the places of the citations, all of which are verified."""
    (event,) = seen.of("citations")
    assert all(one["verified"] for one in event["citations"]), seen.text
    return [one["place"] for one in event["citations"]]


@pytest.mark.parametrize(
    ("question", "value", "place"),
    [
        ("What is Bob's salary in staff.csv?", "Bob / Sales: salary “9800” [1]", "line=3"),
        ("what is the salary of Bob in staff.csv", "“9800”", "line=3"),
        ("How much does Bob earn in staff.csv?", "“9800”", "line=3"),
        ("staff.csv 里 Bob 的工资是多少？", "“9800”", "line=3"),
        ("员工.csv 里李四的工资是多少？", "“9800”", "line=3"),
        ("How many rows does people159.csv have?", "“159”", "line=2-160"),
        ("people159.csv 有多少行？", "“159”", "line=2-160"),
        ("What is person 157's id in people159.csv?", "“157”", "line=159"),
        ("staff.csv 的工资总和是多少？", "“29800”", "line=2-4"),
        ("who earns most in staff.csv?", "Ann: “12000”", "line=2"),
        ("员工.csv 里谁的工资最高？", "张三: “12000”", "line=2"),
        ("which department has the most people in staff.csv?", "Sales: “2”", "line=3-4"),
        ("员工.csv 里哪个部门人最多？", "销售: “2”", "line=3-4"),
    ],
)
async def test_a_cell_a_count_and_a_ranking_are_answered_with_their_rows(
    reader: Assistant, question: str, value: str, place: str
) -> None:
    seen = await reader.say(question)
    assert value in seen.text
    assert places(seen) == [place]


async def test_two_rows_that_fit_are_both_shown(assistant: Assistant, real_drive: Drive, actor: Actor) -> None:
    text = "name,city,salary\nBob Miller,Bonn,9800\nEve,Ulm,7000\nBob Smith,Kiel,6500\n"
    await real_drive.documents.create(actor, "root", "two.csv", text)
    seen = await assistant.say("What is Bob's salary in two.csv?")
    assert "Bob Miller / Bonn: salary “9800”" in seen.text
    assert "Bob Smith / Kiel: salary “6500”" in seen.text
    assert "7000" not in seen.text
    assert places(seen) == ["line=2", "line=4"]


@pytest.mark.parametrize("question", ["What is Dora's salary in staff.csv?", "staff.csv 里 Dora 的工资是多少？"])
async def test_a_row_that_is_not_there_is_said_to_be_missing(reader: Assistant, question: str) -> None:
    seen = await reader.say(question)
    assert "Dora" in seen.text
    assert not any(salary in seen.text for salary in ("12000", "9800", "8000"))


@pytest.mark.parametrize(
    "question", ["how many csv files are there?", "有多少个csv文件？", "how many spreadsheets do I have?"]
)
async def test_files_are_still_counted_as_files(reader: Assistant, question: str) -> None:
    assert "3" in (await reader.say(question)).text


async def test_the_sheets_of_a_workbook_are_told_apart(assistant: Assistant, real_drive: Drive, actor: Actor) -> None:
    staff = [["Name", "Salary"], ["Ann", 12000], ["Bob", 9800]]
    costs = [["Item", "Price"], ["Pen", 5], ["Ink", 7], ["Pad", 3]]
    await stored_sheets(real_drive, actor, "book.xlsx", {"Staff": staff, "Costs": costs})
    assert "“9800”" in (await assistant.say("What is Bob's salary in book.xlsx?")).text
    assert "“15”" in (await assistant.say("What is the total of the price column in book.xlsx?")).text
    counts = (await assistant.say("How many rows does book.xlsx have?")).text
    assert "“2”" in counts
    assert "“3”" in counts
    assert "“3”" in (await assistant.say("How many rows does the Costs sheet have in book.xlsx?")).text


@pytest.mark.parametrize(
    ("question", "amount"),
    [
        ("What is the amount due of invoice number 1003 in invoices.md?", "99.90"),
        ("What is the amount due of invoice 1002 in invoices.md?", "431.50"),
        ("发票.txt 里发票2003的应付金额是多少？", "33元"),
        ("What is the amount due of invoice number 1004 in invoices.md?", ""),
        ("invoices.md 里发票 1002 的应付金额是多少？", "431.50"),
        ("发票 1003 的应付金额是多少？", "99.90"),
        ("发票 1004 的应付金额是多少？", ""),
        ("what is the amount of invoice 2003 in 发票.txt?", "33元"),
    ],
)
async def test_a_figure_is_taken_from_the_invoice_that_the_question_names(
    reader: Assistant, question: str, amount: str
) -> None:
    seen = await reader.say(question)
    others = {"250.00", "431.50", "99.90", "11元", "33元"} - {amount}
    assert amount in seen.text
    assert not any(other in seen.text for other in others), seen.text


@pytest.mark.parametrize(
    ("text", "number", "kept"),
    [
        (INVOICES_ZH, "2003", ["发票号码：2003", "应付金额：33元"]),
        ("Invoice number: 7\nTotal: 5 EUR\n", "7", ["Invoice number: 7", "Total: 5 EUR"]),
        ("Invoice 6 costs 5 EUR.\n\nInvoice 7 was cancelled.\n", "7", ["Invoice 7 was cancelled."]),
        ("Invoice number: 17\nTotal: 5 EUR\n", "7", []),
        ("Invoice number: 6\nTotal: 5 EUR\nSee invoice 7 too.\nPay soon: 9 EUR\n", "7", []),
        (JOINED, "7", ["Invoice number 7 Amount due: 9 EUR Acme"]),
        (JOINED, "8", ["Invoice number 8 Amount due: 4 EUR"]),
        ("Invoice 6 replaces invoice 7 and costs 9 EUR.\n", "7", []),
        ("Total: 5 EUR\nInvoice number: 6\n\nTotal: 9 EUR\nInvoice number: 7\n", "7", []),
    ],
)
def test_only_what_belongs_to_the_number_is_kept(text: str, number: str, kept: list[str]) -> None:
    sentences = [one for part in parts_of(text, number, "file") for one in read_sentences(text, *part)]
    assert [one.text for one in sentences] == kept
    assert all(" ".join(text[one.start : one.end].split()) == one.text for one in sentences)


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("the total of invoice no. INV-1003", "inv-1003"),
        ("2003号发票的金额", "2003"),
        ("order #55", "55"),
        ("what did we pay in 2024?", ""),
        ("how many rows has it", ""),
    ],
)
def test_a_number_of_a_thing_is_told_from_a_year(question: str, number: str) -> None:
    assert named_number(question) == number


STOCK = "Model,In stock,Price,Supplier\nComet,4,890.00,Velotec\nDrift,7,560.00,Alpina\nPixie,9,240.00,Velotec\n"


@pytest.mark.parametrize(
    ("question", "value", "place"),
    [
        ("which bike is the most expensive in Stock.csv?", "Comet", "line=2"),
        ("whats the cheapest bike we sell in Stock.csv?", "Pixie", "line=4"),
        ("how many bikes from Velotec are in stock all together?", "“13”", "line=2, line=4"),
    ],
)
async def test_the_row_that_is_the_most_is_found_among_what_the_table_is_of(
    assistant: Assistant, real_drive: Drive, actor: Actor, question: str, value: str, place: str
) -> None:
    folder = await real_drive.files.create_folder(actor, "root", "Bikes")
    await real_drive.documents.create(actor, folder.value.id, "Stock.csv", STOCK)
    await real_drive.ingester.drain()
    seen = await assistant.say(question)
    assert value in seen.text, seen.text
    assert place in seen.text


async def test_a_superlative_of_what_no_table_is_of_gets_no_row(
    assistant: Assistant, real_drive: Drive, actor: Actor
) -> None:
    await real_drive.documents.create(actor, "root", "Stock.csv", STOCK)
    await real_drive.ingester.drain()
    assert "“890”" not in (await assistant.say("which boat is the most expensive in Stock.csv?")).text
