import ast
import re
from collections.abc import Iterator
from pathlib import Path

import drive_server
from drive_server.kernel.errors import DriveError, InvalidInputError, NotFoundError
from drive_server.kernel.http.problem import CODES
from drive_server.kernel.messages import TEXTS, Message, localized, render
from drive_server.knowledge.formats import GROUPS
from drive_server.knowledge.text.omissions import OMISSION_KINDS
from drive_server.knowledge.text.unreadable import UNREADABLE_KINDS

SOURCES = sorted(Path(drive_server.__file__).parent.rglob("*.py"))


def codes_in_calls(path: Path) -> Iterator[str]:
    """Yield the codes that `Message.of` and `describe` are called with, where they are written out."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        codes = [one.value for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant)]
        texts = [code for code in codes if isinstance(code, str) and code]
        if node.func.attr == "of" and isinstance(node.func.value, ast.Name) and node.func.value.id == "Message":
            yield from (text for text in texts if not text.endswith("."))
        if node.func.attr == "describe":
            yield from (f"{kind}.{text}" for text in texts for kind in ("effect", "change"))


def subclasses(error: type[DriveError]) -> Iterator[type[DriveError]]:
    yield error
    for below in (kind for kind in error.__subclasses__() if kind.__module__.startswith("drive_server")):
        yield from subclasses(below)


def test_each_code_in_the_source_has_a_text() -> None:
    used = {code for path in SOURCES for code in codes_in_calls(path)}
    assert len(used) > 100
    assert used <= TEXTS.codes


def test_each_text_is_used() -> None:
    texts = "\n".join(path.read_text() for path in SOURCES)
    actions = {"undo", "redo", "patch", "append"}
    known = {f"error.{error.code}" for error in subclasses(DriveError)}
    known |= {f"role.{role}" for role in ("viewer", "editor", "owner")} | {"file", "folder"}
    known |= {f"{kind}.{action}" for kind in ("effect", "change") for action in actions}
    known |= {f"type.{group}" for group in (*GROUPS, "folder")}
    known |= {f"omitted.{kind}" for kind in OMISSION_KINDS} | {f"unreadable.{kind}" for kind in UNREADABLE_KINDS}
    known |= {f"error.{code}" for code in (*CODES.values(), "http_error")}
    plain = {code.removesuffix(".hint") for code in TEXTS.codes} - known
    named = {code: (code, re.sub("^(effect|change)[.]", "", code)) for code in plain}
    unused = {code for code, names in named.items() if not any(f'"{name}"' in texts for name in names)}
    assert unused == set()


def test_each_error_has_a_general_sentence() -> None:
    assert {f"error.{error.code}" for error in subclasses(DriveError)} <= TEXTS.codes


def test_a_message_in_a_message_is_rendered_in_its_language() -> None:
    item = Message.of("item", name="{plan}.md")
    message = Message.of("effect.trash", item=item, holding=Message.of("holding", count=1))
    assert message.en == "Move '{plan}.md' with 1 item in it to the trash, from where it can be restored."
    assert render(message, "zh") == "把“{plan}.md”（含 1 项）移到回收站，之后可以恢复。"


def test_a_list_joins_texts_and_messages() -> None:
    parts = Message.joined("commas", ["bob@example.com", Message.of("link_holders")])
    assert (parts.en, render(parts, "zh")) == (
        "bob@example.com, anyone with the link",
        "bob@example.com，任何拿到链接的人",
    )


def test_a_stored_message_reads_as_it_did() -> None:
    message = Message.of("change.move_many", count=2, folder=Message.of("root"))
    assert Message(**message.to_json()) == message


def test_a_field_has_its_english_text_and_the_others_beside_it() -> None:
    assert localized(what=Message.of("goes_to_trash"), summary="as it was") == {
        "what": "goes to the trash",
        "summary": "as it was",
        "messages": {"what": {"code": "goes_to_trash", "params": {}, "zh": "移到回收站"}},
    }


def test_an_error_carries_its_code_and_parameters() -> None:
    error = NotFoundError(Message.of("no_version", newest=3), details={"newest": 3})
    assert error.to_dict() == {
        "code": "not_found",
        "message": "The file has no such version.",
        "hint": "Its newest is 3; list the versions to see all.",
        "details": {"newest": 3},
        "messages": {
            "message": {"code": "no_version", "params": {"newest": 3}, "zh": "该文件没有这个版本。"},
            "hint": {"code": "no_version.hint", "params": {"newest": 3}, "zh": "最新版本是 3；列出版本可查看全部。"},
        },
    }


def test_an_error_about_an_argument_has_a_general_sentence_in_chinese() -> None:
    told = InvalidInputError("limit must be a number.").to_dict()
    assert told["message"] == "limit must be a number."
    assert told["messages"]["message"]["zh"] == "有一个参数无效。"


def test_other_details_leave_the_sentence_of_an_error_as_it_is() -> None:
    error = NotFoundError(Message.of("no_change"), details={"id": 1})
    assert error.with_details({}).to_dict() == {**error.to_dict(), "details": {}}
    assert error.details == {"id": 1}
