"""The three sentences that the product is asked for first, whole and in both languages: with the built-in model, and
with a scripted one that knows nothing but what it is sent.

Create a file here and share it; write a summary at the end of the document; find the document about something, write
its summary into a new file, and share that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from tests.api.real_service import RealService
from tests.e2e.waiting import wait_until_indexed
from tests.fakes.chat_model import FakeChatModel, plan_of, route_to, tool_call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.person import Event, Person, Turn
    from tests.e2e.service import Service

HANDBOOK = """# Staff handbook

## Parental leave
Staff get 14 weeks of parental leave. Two of them may be taken before the birth.

## Pay
Pay comes on the 25th of each month.
"""
MANUAL = """# 员工手册

## 陪产假
员工有14周陪产假。其中两周可以在出生前休。

## 工资
每月25日发工资。
"""


@dataclass
class Desk:
    """A person's drive with two handbooks in /HR and empty folders for notes, and somebody to share with."""

    person: Person
    other: Person
    folders: dict[str, str]
    files: dict[str, str]
    thread: str | None = None
    cards: list[Event] = field(default_factory=list[Any])
    turns: list[Turn] = field(default_factory=list[Any])

    def say(self, message: str, reject: str = "", **place: Any) -> str:
        """Say it, approve every question but those about the tool `reject`; return the answer."""
        said = message.replace("BOB", self.other.email)
        with self.person.chat(said, thread_id=self.thread, **place) as turn:
            while (event := turn.until("approval_needed", "done", "error"))["type"] == "approval_needed":
                self.cards.append(event)
                decision = "reject" if reject in asked(event) else "approve"
                assert self.person.answer(event, decision).is_success
        assert event["type"] == "done", event
        self.thread = turn.seen[0]["thread_id"]
        self.turns.append(turn)
        return turn.text

    def shown(self) -> dict[str, list[str]]:
        """Return the names in each folder, and what was shared with the other person as name: role."""
        mine = {name: self.person.names(key) for name, key in self.folders.items()}
        with_other = [item for item in self.other.children("shared") if item["owner"] == self.person.email]
        return {**mine, "shared": [f"{item['name']}: {item['role']}" for item in with_other]}

    def text(self, folder: str, name: str) -> str:
        """Return the text of a file."""
        found = [item["id"] for item in self.person.children(self.folders[folder]) if item["name"] == name]
        return self.person.content(found[0])


def asked(card: Event) -> list[str]:
    """Return the tools that a card asks about."""
    return [action["name"] for action in card["actions"]]


@pytest.fixture
def desk(alice: Person, bob: Person) -> Desk:
    return new_desk(alice, bob)


def new_desk(alice: Person, bob: Person) -> Desk:
    """Fill a person's drive."""
    folders = {name: alice.folder(name)["id"] for name in ("HR", "Notes", "笔记")}
    texts = {"handbook.md": HANDBOOK, "员工手册.md": MANUAL, "list.txt": "milk, eggs\n"}
    files = {name: alice.upload(name, text, folders["HR"])["id"] for name, text in texts.items()}
    wait_until_indexed(alice)
    return Desk(alice, bob, {"": "root", **folders}, files)


@pytest.mark.parametrize(
    ("message", "folder", "made", "role"),
    [
        ("create a file plan.md in the current folder and share it with BOB", "HR", "plan.md", "viewer"),
        ("create a note Plan in Notes, share it with BOB and let him edit", "Notes", "Plan.md", "editor"),
        ("create /Notes/plan.md and share it with BOB as editor", "Notes", "plan.md", "editor"),
        ("在当前目录中创建计划.md文件并分享给BOB", "HR", "计划.md", "viewer"),
        ("在当前目录中创建xxx文件并分享给BOB", "HR", "xxx.md", "viewer"),
        ("在笔记文件夹中创建一个计划.md文件，并分享给BOB，可编辑", "笔记", "计划.md", "editor"),
    ],
)
def test_a_new_file_is_made_where_the_person_is_and_shared_once_that_is_approved(
    desk: Desk, message: str, folder: str, made: str, role: str
) -> None:
    before = desk.shown()
    desk.say(message, folder_id=desk.folders["HR"])
    assert [asked(card) for card in desk.cards] == [["share_item"]]
    after = desk.shown()
    assert after["shared"] == [f"{made}: {role}"]
    assert sorted(after[folder]) == sorted([*before[folder], made])


@pytest.mark.parametrize(
    ("message", "opened", "made"),
    [
        ("create a file plan.md in the current folder and share it with BOB", "handbook.md", "plan.md"),
        ("在当前目录中创建计划.md文件并分享给BOB", "员工手册.md", "计划.md"),
        ("summarise this document into a new file and share it with BOB", "handbook.md", "Staff handbook summary.md"),
        ("把这份文档的总结写入一个新文件，并分享给BOB", "员工手册.md", "员工手册总结.md"),
    ],
)
def test_with_a_document_open_what_was_made_is_shared_and_not_the_document(
    desk: Desk, message: str, opened: str, made: str
) -> None:
    desk.say(message, file_id=desk.files[opened])
    assert desk.shown()["shared"] == [f"{made}: viewer"]
    assert made in desk.shown()["HR"]


@pytest.mark.parametrize(
    ("message", "question", "answer", "made"),
    [
        ("create plan.md here and share it with Ann", "email address of Ann?", "BOB", "plan.md"),
        ("在当前目录中创建计划.md文件并分享给小安", "小安的邮箱地址是什么？", "BOB", "计划.md"),
        ("create a file list.txt here and share it with BOB", "already", "things.txt", "things.txt"),
        ("在当前目录中创建list.txt文件并分享给BOB", "已有", "叫清单.txt", "清单.txt"),
    ],
)
def test_what_is_missing_is_asked_and_the_answer_goes_on_with_the_plan_in_its_language(
    desk: Desk, message: str, question: str, answer: str, made: str
) -> None:
    here = {"folder_id": desk.folders["HR"]}
    assert question in desk.say(message, **here)
    assert desk.shown()["shared"] == []
    assert ("共享给" if "分享" in message else "Shared") in desk.say(answer, **here)
    assert desk.shown()["shared"] == [f"{made}: viewer"]
    assert desk.text("HR", "list.txt") == "milk, eggs\n"


@pytest.mark.parametrize(
    ("message", "answer", "said"),
    [
        ("create plan.md here and share it with Ann", "never mind", "All right, I did nothing."),
        ("在当前目录中创建计划.md文件并分享给小安", "算了", "好的，我什么也没有做。"),
    ],
)
def test_a_question_of_the_plan_may_be_declined(desk: Desk, message: str, answer: str, said: str) -> None:
    desk.say(message)
    assert said in desk.say(answer)
    assert desk.shown()["shared"] == []
    assert desk.cards == []


@pytest.mark.parametrize(
    ("message", "file", "opened", "added", "undo"),
    [
        ("write a summary at the end of the document", "handbook.md", True, "## Summary\n\n- Staff get", "undo that"),
        ("add a summary to the end of handbook.md", "handbook.md", False, "## Summary\n\n- Staff get", "undo that"),
        ("在文档末尾写一个总结", "员工手册.md", True, "## 总结\n\n- 员工有14周陪产假。", "撤销刚才的操作"),
        ("在员工手册.md末尾写一个总结", "员工手册.md", False, "## 总结\n\n- 员工有14周陪产假。", "撤销刚才的操作"),
    ],
)
def test_a_summary_is_added_at_the_end_of_a_document_and_taken_back(
    desk: Desk, message: str, file: str, opened: bool, added: str, undo: str
) -> None:
    place = {"file_id": desk.files[file]} if opened else {}
    before = desk.text("HR", file)
    desk.say(message, **place)
    after = desk.text("HR", file)
    assert after.startswith(f"{before}\n{added}")
    desk.say(undo, **place)
    assert desk.text("HR", file) == before


def test_without_an_open_document_a_summary_is_added_to_none(desk: Desk) -> None:
    assert "现在没有打开的文档" in desk.say("在文档末尾写一个总结")
    assert desk.cards == []


FIND = "find the document about parental leave, write its summary into a new file in /Notes, share it with BOB"
FIND_ZH = "找到关于陪产假的文档，把它的总结写入/笔记里的新文件，分享给BOB"


@pytest.mark.parametrize(
    ("message", "folder", "made", "role", "source"),
    [
        (FIND, "Notes", "Staff handbook summary.md", "viewer", "/HR/handbook.md"),
        (
            "Find the document about parental leave, write its summary into a new file and share it with BOB as editor",
            "",
            "Staff handbook summary.md",
            "editor",
            "/HR/handbook.md",
        ),
        (
            "find the document about parental leave, summarise it into a new file called leave.md in Notes, "
            "then share it with BOB and let him edit",
            "Notes",
            "leave.md",
            "editor",
            "/HR/handbook.md",
        ),
        (FIND_ZH, "笔记", "员工手册总结.md", "viewer", "/HR/员工手册.md"),
        (
            "找到关于陪产假的文档，把总结写到/笔记里的新文件陪产假.md中，然后分享给BOB，可编辑",
            "笔记",
            "陪产假.md",
            "editor",
            "/HR/员工手册.md",
        ),
        ("找到关于陪产假的文档，总结后保存为陪产假.md，分享给BOB", "", "陪产假.md", "viewer", "/HR/员工手册.md"),
    ],
)
def test_a_document_is_found_and_its_summary_written_with_its_source_and_shared(
    desk: Desk, message: str, folder: str, made: str, role: str, source: str
) -> None:
    desk.say(message)
    assert desk.shown()["shared"] == [f"{made}: {role}"]
    text = desk.text(folder, made)
    assert "14" in text
    assert f"`{source}`" in text
    assert asked(desk.cards[-1]) == ["share_item"]
    assert made in desk.cards[-1]["actions"][0]["preview"]


@pytest.mark.parametrize(
    ("message", "folder", "said"),
    [
        (FIND, "Notes", ("because you rejected it", "Done: “Find the document")),
        (FIND_ZH, "笔记", ("因为你拒绝了它", "已完成：“找到关于陪产假的文档”")),
    ],
)
def test_a_rejected_share_leaves_the_file_and_says_so(
    desk: Desk, message: str, folder: str, said: tuple[str, str]
) -> None:
    text = desk.say(message, reject="share_item")
    assert all(part in text for part in said)
    assert len(desk.shown()[folder]) == 1
    assert desk.shown()["shared"] == []


@pytest.mark.parametrize(("message", "undo"), [(FIND, "undo that"), (FIND_ZH, "撤销刚才的操作")])
def test_an_undo_of_the_run_takes_back_the_share_and_the_file(desk: Desk, message: str, undo: str) -> None:
    before = desk.shown()
    desk.say(message)
    assert desk.shown() != before
    desk.say(undo)
    assert desk.shown() == before


@pytest.mark.parametrize(
    ("message", "question", "answer", "folder", "made"),
    [
        (FIND, "Which one do you mean?", "the old one", "Notes", "Old rules summary.md"),
        (FIND_ZH, "你指的是哪一个？", "旧规定.md", "笔记", "旧规定总结.md"),
    ],
)
def test_of_two_documents_it_asks_which_and_the_answer_goes_on_with_the_plan(
    desk: Desk, message: str, question: str, answer: str, folder: str, made: str
) -> None:
    desk.person.upload("old rules.md", "# Old rules\n\nParental leave was 10 weeks.\n", desk.folders["HR"])
    desk.person.upload("旧规定.md", "# 旧规定\n\n陪产假曾经是10周。\n", desk.folders["HR"])
    wait_until_indexed(desk.person)
    assert question in desk.say(message)
    assert desk.shown()[folder] == []
    desk.say(answer)
    assert desk.shown()[folder] == [made]
    assert desk.shown()["shared"] == [f"{made}: viewer"]


@pytest.mark.parametrize(
    ("message", "nobody"),
    [(FIND.replace("parental leave", "whales"), "found nothing"), (FIND_ZH.replace("陪产假", "鲸鱼"), "没有找到")],
)
def test_if_nothing_is_found_no_file_is_made_and_nothing_shared(desk: Desk, message: str, nobody: str) -> None:
    before = desk.shown()
    assert nobody in desk.say(message)
    assert desk.shown() == before
    assert desk.cards == []


@pytest.mark.parametrize("message", [FIND, FIND_ZH])
def test_a_share_with_an_address_without_an_account_holds_once_there_is_one(
    desk: Desk, message: str, service: Service
) -> None:
    address = f"late-{len(message)}@example.com"
    desk.say(message.replace("BOB", address))
    late = service.add_person(address)
    assert len(late.names("shared")) == 1
    late.close()


Seen = Sequence[BaseMessage]
STEP = re.compile(r"<step>\n(.*?)\n</step>", re.DOTALL)
EARLIER = re.compile(r"<earlier_results>\n(.*?)\n</earlier_results>", re.DOTALL)


def section(tag: re.Pattern[str], seen: Seen) -> Any:
    """Return the data of the newest section of that kind that the model was sent."""
    found = [match for message in seen if not isinstance(message, ToolMessage) for match in tag.findall(message.text)]
    return json.loads(found[-1]) if found else None


def id_in(seen: Seen, name: str) -> str:
    """Return the id of the newest item whose line in the results of earlier steps has the name."""
    lines = [line for step in section(EARLIER, seen) for key in ("changed", "found") for line in step.get(key, ())]
    return next(line.split(" ", 1)[0] for line in reversed(lines) if name in line)


class StepModel(FakeChatModel):
    """Plans the steps of `work` for whatever it is asked, and does in each the one call that is written there.

    It says no more than "Done." after each, so that a later step knows of an earlier one only what the product tells.
    """

    work: list[tuple[str, str, list[str], Callable[[Seen], AIMessage]]]

    def _answer(self, messages: Seen, offered: Sequence[str]) -> AIMessage:
        step = section(STEP, messages)
        if "RouteDecision" in offered:
            return route_to("drive_agent", needs_plan=True)
        if "TaskPlan" in offered:
            return plan_of(*((agent, text, needs) for agent, text, needs, _ in self.work))
        if step is None:
            return tool_call("make_plan", reason="Several things are asked for.")
        if isinstance(messages[-1], ToolMessage):
            return AIMessage("Done.")
        called = next(call for _, text, _, call in self.work if text == step["instruction"])(messages)
        return called.model_copy(
            update={"id": None, "tool_calls": [{**called.tool_calls[0], "id": step["instruction"]}]}
        )


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StepModel, Person]]:
    """A service with that model, and its owner."""
    folder = tmp_path_factory.mktemp("scripted")
    model = StepModel(work=[])
    running = RealService(folder, model).start()
    owner = running.owner()
    yield model, owner
    owner.close()
    running.stop()


@pytest.fixture
def scripted_desk(scripted: tuple[StepModel, Person]) -> Iterator[Desk]:
    people = [scripted[1].add_new("ann"), scripted[1].add_new("ben")]
    yield new_desk(*people)
    for person in people:
        person.close()


@pytest.mark.parametrize("message", [FIND, FIND_ZH])
def test_a_model_that_says_nothing_of_them_is_told_what_its_earlier_steps_found_and_made(
    scripted: tuple[StepModel, Person], scripted_desk: Desk, message: str
) -> None:
    model, desk = scripted[0], scripted_desk
    name = "handbook.md" if message == FIND else "员工手册.md"
    model.work = [
        ("search_agent", "find", [], lambda _: tool_call("search_files", query=name)),
        ("search_agent", "read", ["1"], lambda seen: tool_call("read_file", file_id=id_in(seen, name))),
        ("drive_agent", "write", ["2"], lambda _: tool_call("create_file", name="leave.md", content="14 weeks")),
        (
            "drive_agent",
            "share",
            ["3"],
            lambda seen: tool_call("share_item", item_id=id_in(seen, "leave.md"), email=desk.other.email),
        ),
    ]
    desk.say(message)
    assert [status for _, status in desk.turns[0].tools] == ["done"] * 4
    assert desk.shown()["shared"] == ["leave.md: viewer"]


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("create a file plan.md in the current folder and share it with BOB", "plan.md"),
        ("在当前目录中创建计划.md文件并分享给BOB", "计划.md"),
    ],
)
def test_a_model_shares_the_file_that_its_earlier_step_made(
    scripted: tuple[StepModel, Person], scripted_desk: Desk, message: str, made: str
) -> None:
    model, desk = scripted[0], scripted_desk
    model.work = [
        ("drive_agent", "create", [], lambda _: tool_call("create_file", name=made, content="", folder_id="/HR")),
        (
            "drive_agent",
            "share",
            ["1"],
            lambda seen: tool_call("share_item", item_id=id_in(seen, made), email=desk.other.email, role="editor"),
        ),
    ]
    desk.say(message, folder_id=desk.folders["HR"])
    assert desk.shown()["shared"] == [f"{made}: editor"]
    assert made in desk.shown()["HR"]
