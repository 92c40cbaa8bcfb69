"""New files with their text in one sentence, in a folder that may be missing, and corrected afterwards."""

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor, Drive
from graph.drive.connections import ConnectionPool
from graph.offline.model import OfflineChatModel
from graph.offline.understanding.intent import Intent
from graph.offline.understanding.requests import understand
from tests.graph.assistant import Assistant, Seen, approve, assemble, names, person

ENGLISH = [
    "create a file plan.md in /Notes with the text: leave is 10 days",
    'create a file plan.md in /Notes with the text "leave is 10 days"',
    "create plan.md in /Notes saying leave is 10 days",
    "in /Notes create a file plan.md with the text: leave is 10 days",
    "create a file in /Notes called plan.md with: leave is 10 days",
    "new file plan.md in /Notes: leave is 10 days",
    "create /Notes/plan.md with the text leave is 10 days",
    'please create the file plan.md in /Notes and write "leave is 10 days" in it',
    'create a file plan.md with the text "leave is 10 days" in /Notes',
    "create a file called plan.md, with the words “leave is 10 days”, in /Notes",
    "create a file plan.md in /Notes with leave is 10 days",
    "create a file in /Notes called plan.md that reads ‘leave is 10 days’",
]
CHINESE = [
    "在/笔记里新建文件plan.md，内容是：年假10天",
    "在 /笔记 里新建文件 plan.md，写上：年假10天",
    "在/笔记里新建一个文件plan.md，内容为“年假10天”",
    "新建文件 /笔记/plan.md，内容：年假10天",
    "在/笔记文件夹里新建plan.md，写上年假10天",
    "在/笔记中创建一个名为plan.md的文件，内容如下：\n年假10天",
    "帮我在/笔记下面建一个plan.md，里面写“年假10天”",
    "新建一个文件plan.md放在/笔记里，内容是：年假10天",
    "在/笔记新建文件plan.md，内容是年假10天",
    "新建文件plan.md到/笔记，内容为：年假10天",
    "新建plan.md放到/笔记，写上：年假10天",
]


def only(text: str) -> Intent:
    (intent,) = understand(text)
    return intent


def place_of(intent: Intent) -> str:
    return intent.destination.text if intent.destination else ""


@pytest.mark.parametrize(
    ("texts", "folder", "content"), [(ENGLISH, "/Notes", "leave is 10 days"), (CHINESE, "/笔记", "年假10天")]
)
def test_name_folder_and_text_are_told_apart_in_every_order(texts: list[str], folder: str, content: str) -> None:
    found = {text: only(text) for text in texts}
    seen = {text: (one.action, one.names, place_of(one).strip("文件夹"), one.content) for text, one in found.items()}
    assert seen == dict.fromkeys(texts, ("create_file", ("plan.md",), folder, content))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("create a file plan.md with the text:\n# Leave\n\n- 10 days，每年\n", "# Leave\n\n- 10 days，每年"),
        ("新建文件plan.md，写上：\n年假10天，\n病假5天", "年假10天，\n病假5天"),
        ('create a file plan.md with the text "a\n  b"', "a\n  b"),
        ("建一个文件叫plan.md，里面写：年假10天", "年假10天"),
        ("make a note plan.md containing milk and eggs", "milk and eggs"),
        ("create an empty file plan.md", ""),
    ],
)
def test_a_text_is_taken_letter_by_letter_with_its_lines_and_without_a_folder(text: str, content: str) -> None:
    intent = only(text)
    assert (intent.action, intent.names, intent.destination, intent.content) == (
        "create_file",
        ("plan.md",),
        None,
        content,
    )


@pytest.mark.parametrize(
    ("text", "makes"),
    [
        ("create a file plan.md in /Notes (create the folder if it is missing) with the text: a", True),
        ("create the folder /Notes if needed and a file plan.md in it with the text: a", True),
        ("在/Notes里新建文件plan.md，如果文件夹不存在就新建，内容是：a", True),
        ("create a file plan.md in /Notes with the text: a", False),
    ],
)
def test_a_sentence_may_say_that_the_folder_is_made_too(text: str, makes: bool) -> None:
    intent = only(text)
    assert (intent.names, place_of(intent), intent.content, intent.makes_folder) == (("plan.md",), "/Notes", "a", makes)


def test_what_only_sounds_like_it_stays_what_it_is() -> None:
    assert [one.action for one in understand("create a folder Reports, and share it with bob@example.com")] == [
        "create_folder",
        "share",
    ]
    assert [one.action for one in understand("新建文件总结.md写入它的总结")] == ["save_summary"]
    assert only('add the text: "x" to plan.md').content == "x"


def test_a_list_of_folders_after_a_colon_is_a_list_and_between_quotation_marks_a_name() -> None:
    assert only("create folders: cars, boats and planes").names == ("cars", "boats", "planes")
    assert only("新建文件夹：发票、合同、照片").names == ("发票", "合同", "照片")
    assert only("create a folder: “cars, boats”").names == ("cars, boats",)


@pytest.fixture
def assistant(real_pool: ConnectionPool, saver: AsyncSqliteSaver, actor: Actor) -> Assistant:
    return assemble(OfflineChatModel(), real_pool, saver, person(actor))


async def said(assistant: Assistant, text: str) -> Seen:
    """Say something, approve what it asks for, and return what was seen at the end."""
    seen = await assistant.say(text)
    return await assistant.answer(approve(seen.asked["actions"][0]["tool_call_id"])) if seen.asked else seen


@pytest.mark.parametrize(
    ("folder", "order", "corrections", "text"),
    [
        ("Notes", ENGLISH[0], ["no, make it 11 days", "no, 12 days"], "leave is 12 days"),
        ("Notes", ENGLISH[7], ["no, it should be 11 days"], "leave is 11 days"),
        ("笔记", CHINESE[0], ["不对，改成11天"], "年假11天"),
        ("笔记", CHINESE[6], ["错了，应该是12天"], "年假12天"),
    ],
)
async def test_a_new_file_is_made_in_its_folder_and_its_text_is_corrected(
    assistant: Assistant, real_drive: Drive, actor: Actor, folder: str, order: str, corrections: list[str], text: str
) -> None:
    await real_drive.files.create_folder(actor, "root", folder)
    for one in (order, *corrections):
        seen = await said(assistant, one)
        assert "plan.md" in seen.text
        was, _, becomes = seen.text.partition(" → ")
        assert not becomes or was.rpartition("“")[2] not in becomes
    assert (await real_drive.documents.read_text(actor, f"/{folder}/plan.md")).text == text


async def test_a_correction_that_fits_two_places_asks_and_one_of_the_name_renames(
    assistant: Assistant, real_drive: Drive, actor: Actor
) -> None:
    await said(assistant, "create a file plan.md with the text: 10 days of leave, 10 days of notice, 5 days off")
    seen = await said(assistant, "no, make it 11 days")
    assert "Which words" in seen.text
    await said(assistant, "no, call it leave.md")
    assert await names(real_drive, actor, "root") == ["leave.md"]
    assert "11" not in (await real_drive.documents.read_text(actor, "/leave.md")).text


@pytest.mark.parametrize(
    ("order", "offer", "agreed", "path", "text", "correction"),
    [
        (ENGLISH[0], "There is no folder “/Notes”", "yes", "/Notes/plan.md", "leave is 10 days", "no, make it 11 days"),
        (CHINESE[0], "没有名为“/笔记”的文件夹", "好的，新建吧", "/笔记/plan.md", "年假10天", "不对，改成11天"),
    ],
)
async def test_a_folder_that_is_missing_is_offered_and_made_when_the_person_agrees(
    assistant: Assistant,
    real_drive: Drive,
    actor: Actor,
    order: str,
    offer: str,
    agreed: str,
    path: str,
    text: str,
    correction: str,
) -> None:
    assert offer in (await said(assistant, order)).text
    assert await names(real_drive, actor, "root") == []
    assert path in (await said(assistant, agreed)).text
    assert (await real_drive.documents.read_text(actor, path)).text == text
    await said(assistant, correction)
    assert (await real_drive.documents.read_text(actor, path)).text == text.replace("10", "11")


async def test_a_folder_is_made_at_once_if_the_sentence_says_so(
    assistant: Assistant, real_drive: Drive, actor: Actor
) -> None:
    await said(assistant, "create a file plan.md in /Notes (create the folder if it is missing) with the text: a")
    assert (await real_drive.documents.read_text(actor, "/Notes/plan.md")).text == "a"
