"""Answers about files for which nothing was read: the model is asked once to look, then the person is told."""

from collections.abc import Sequence

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor, Drive
from graph.citations.unread import Asked, describes_call
from graph.drive.connections import ConnectionPool
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.graph.assistant import Assistant, Seen, approve, assemble, person

FILES = {
    "handbook.md": "# Handbook\n\nStaff get 25 days of paid leave.\n\nThe notice period is thirty days.\n",
    "Lease.md": "# Lease\n\nThe rent is 900 euros a month. The lease ends in March 2027.\n",
    "合同.md": "# 合同\n\n租期到2027年3月为止，每月租金900元。\n",
}
UNREAD = "Nothing in your files was read for this answer"
UNREAD_ZH = "这个回答没有读取你的任何文件"
UNCHANGED = "Nothing was changed in your drive"
UNCHANGED_ZH = "你的云盘没有任何改动"
READING = tool_call("read_file", file_id="/Lease.md")
RENT = "“The rent is 900 euros a month” [1].\n\n[1] /Lease.md"
UNCALLED = "The assistant only described what to do"
UNCALLED_ZH = "助手只描述了要做的事"
NOTICES = (UNCALLED, UNCALLED_ZH, UNREAD, UNREAD_ZH, UNCHANGED, UNCHANGED_ZH)


@pytest.fixture
async def assistant(
    real_pool: ConnectionPool, model: ScriptedChatModel, saver: AsyncSqliteSaver, real_drive: Drive, actor: Actor
) -> Assistant:
    for name, text in FILES.items():
        await real_drive.documents.create(actor, "root", name, text)
    await real_drive.ingester.drain()
    return assemble({"agent": model}, real_pool, saver, person(actor))


async def said(assistant: Assistant, model: ScriptedChatModel, request: str, *answers: AIMessage | str) -> Seen:
    model.script = [*answers]
    model.requests.clear()
    return await assistant.say(request)


def notices(seen: Seen) -> list[str]:
    return [notice for notice in NOTICES if notice in seen.text]


INVENTED = [
    ("When does the lease end?", "The lease ends in December 2031.", UNREAD),
    ("How long is the notice period?", "The notice period is three months.", UNREAD),
    ("What does the handbook say about holidays?", "According to the handbook, staff get 30 days off.", UNREAD),
    ("How much rent do I pay?", "You pay 1,200 euros a month.", UNREAD),
    ("Summarise my contract", "The contract obliges both sides to secrecy and arbitration.", UNREAD),
    ("What does my insurance policy cover?", "Your insurance policy covers theft and water damage.", UNREAD),
    ("Is there anything about parking?", "I searched your files and found nothing about parking.", UNREAD),
    ("Which file talks about travel?", "It is in /HR/Travel policy.docx.", UNREAD),
    ("租期什么时候结束？", "租期到2031年12月结束。", UNREAD_ZH),
    ("合同里写了什么？", "合同规定双方应当保守商业秘密，违约金为五万元。", UNREAD_ZH),
    ("我的报告里提到了哪些风险？", "报告提到了汇率波动和供应链中断。", UNREAD_ZH),
    ("Find my lease", "I'll search your drive for the lease.", UNCALLED),
    ("帮我找租房合同", "好的，我来查找一下。", UNCALLED_ZH),
    ("Make a folder called Trips", "I've created the folder Trips for you.", UNCHANGED),
    ("Delete handbook.md", "handbook.md has been deleted.", UNCHANGED),
    ("新建一个名为“照片”的文件夹", "已成功创建文件夹“照片”。", UNCHANGED_ZH),
]


@pytest.mark.parametrize(("request_text", "answer", "notice"), INVENTED, ids=[one[0] for one in INVENTED])
async def test_a_model_is_asked_once_to_look_and_then_the_person_is_told_that_it_did_not(
    assistant: Assistant, model: ScriptedChatModel, request_text: str, answer: str, notice: str
) -> None:
    seen = await said(assistant, model, request_text, answer, answer)
    assert len(model.requests) == 2
    assert len(model.requests[1]) == len(model.requests[0])
    assert notices(seen) == [notice]
    assert seen.text.count(answer) == 1
    assert notice in seen.state["messages"][-1].text


async def test_a_model_that_looks_when_it_is_asked_to_gives_an_answer_without_a_notice(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    invented = "The lease ends in December 2031."
    right = "“The lease ends in March 2027” [1].\n\n[1] /Lease.md"
    reading = tool_call("read_file", file_id="/Lease.md")
    seen = await said(assistant, model, "When does the lease end?", invented, reading, right)
    assert notices(seen) == []
    assert "2031" not in seen.text
    assert [message.text for message in seen.state["messages"] if "2031" in message.text] == []
    assert seen.text.strip() == right


async def test_a_model_that_says_nothing_when_it_is_asked_to_look_has_its_first_answer_told_with_the_notice(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    seen = await said(assistant, model, "When does the lease end?", "The lease ends in December 2031.", "", "")
    assert seen.text.startswith("The lease ends in December 2031.")
    assert notices(seen) == [UNREAD]


GUARDS = [
    ("Which tools do you have?", "I have `move_item` and `rename_item`, among others."),
    ("Search my files for the contract", "I am gpt-5."),
    ("Hello!", "Hello! How can I help you with your files today?"),
    ("Thanks a lot", "You're welcome! Your documents are always here when you need them."),
    ("你好", "你好！我可以帮你查找文件、整理文件夹。有什么需要吗？"),
    ("What can you do?", "I can search your documents, make folders, and share up to 100 files at once."),
    ("What is the capital of France?", "The capital of France is Paris, on the Seine, with 2.1 million people."),
    ("法国的首都是哪里？", "法国的首都是巴黎，人口约210万。"),
    ("How many days are in a leap year?", "A leap year has 366 days."),
    ("What is a notice period?", "A notice period is the time between a resignation and the last day of work."),
    ("Translate into German: the meeting is on 5 May at Acme", "Das Treffen ist am 5. Mai bei Acme."),
    ("把这句话翻译成英文：会议改到五月五日", "The meeting was moved to 5 May."),
    ("Write a short poem about the lease", "The lease is long, the rent is high, nine hundred reasons for a sigh."),
    ("Move my report to the archive", "There are 2 places for it. Which one do you mean?"),
    ("Read my report", "Which report do you mean? I see none here."),
    ("What does my report say?", "I can't read it before you tell me which file you mean."),
    ("Which files are here?", "There are three files: handbook.md, Lease.md and 合同.md."),
    ("How many files do I have here?", "You have 3 files and 0 folders here."),
    ("这里有哪些文件？", "这里有3个文件：handbook.md、Lease.md 和 合同.md。"),
    ("Is there a file called taxes.pdf here?", "No, there is no file called taxes.pdf in this folder."),
    ("Share Lease.md with everyone on the internet", "I can't share a file with everyone; who should get it?"),
    ("How do I delete a file in Linux?", "Use rm: the file is removed at once, without a trash."),
    ("What usually stands in a README.md?", "A README.md usually describes the project and how to install it."),
]


@pytest.mark.parametrize(("request_text", "answer"), GUARDS, ids=[one[0] for one in GUARDS])
async def test_an_answer_that_needs_no_reading_has_no_notice_and_no_second_request(
    assistant: Assistant, model: ScriptedChatModel, request_text: str, answer: str
) -> None:
    seen = await said(assistant, model, request_text, answer)
    assert notices(seen) == []
    assert len(model.requests) == 1


FOLLOW_UPS: Sequence[tuple[str, str]] = [
    ("And how much is that in a year?", "That is 10,800 euros a year."),
    ("When does the lease end?", "It ends in March 2027, as the lease says."),
    ("And in Chinese?", "租金是每月900欧元。"),
]


@pytest.mark.parametrize(("request_text", "answer"), FOLLOW_UPS, ids=[one[0] for one in FOLLOW_UPS])
async def test_what_was_read_before_in_the_conversation_need_not_be_read_again(
    assistant: Assistant, model: ScriptedChatModel, request_text: str, answer: str
) -> None:
    reading = tool_call("read_file", file_id="/Lease.md")
    await said(
        assistant, model, "How much is the rent?", reading, "“The rent is 900 euros a month” [1].\n\n[1] /Lease.md"
    )
    seen = await said(assistant, model, request_text, answer)
    assert notices(seen) == []
    assert len(model.requests) == 1


async def test_another_file_than_the_one_read_before_is_not_answered_from_nothing(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    reading = tool_call("read_file", file_id="/Lease.md")
    await said(
        assistant, model, "How much is the rent?", reading, "“The rent is 900 euros a month” [1].\n\n[1] /Lease.md"
    )
    answer = "The handbook grants 40 days of paid leave."
    seen = await said(assistant, model, "How much paid leave does the handbook grant?", answer, answer)
    assert notices(seen) == [UNREAD]


async def test_an_invented_answer_is_no_source_for_the_next_one(assistant: Assistant, model: ScriptedChatModel) -> None:
    answer = "The lease ends in December 2031."
    await said(assistant, model, "When does the lease end?", answer, answer)
    seen = await said(assistant, model, "When does the lease end?", answer, answer)
    assert notices(seen) == [UNREAD]


async def test_a_change_that_was_made_is_told_without_a_notice(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = [
        tool_call("create_folder", "c1", name="Trips", folder_id="root"),
        "I've created the folder Trips.",
        "I created it a moment ago.",
    ]
    seen = await assistant.say("Make a folder called Trips")
    if seen.asked:
        seen = await assistant.answer(approve("c1"))
    assert notices(seen) == []
    seen = await assistant.say("Did you create it?")
    assert notices(seen) == []


async def test_a_document_that_is_attached_counts_as_read(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    item = (await real_drive.files.list_folder(actor, "root")).items[0]
    model.script = ["It is about 12 things, all of them dull."]
    seen = await assistant.say("What is this about?", attachments=[{"id": item.id}])
    assert notices(seen) == []
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("answer", "described"),
    [
        ("To accomplish this, you would call the `move_item` function.", True),
        ('[1] read_file("/合同.md")', True),
        ("<listing>\n/HR/\n</listing>", True),
        ("Let me search for it.", True),
        ("The folder has a file of that name.", False),
        ("I will be there. Where do you want to move it?", False),
    ],
)
def test_an_answer_that_describes_a_call_is_known(answer: str, described: bool) -> None:
    asked = Asked("Move Lease.md to HR", (), (), ())
    assert describes_call(answer, asked, frozenset({"move_item", "read_file", "remember"})) is described
