"""`@/path` in a message: what counts as one, and that it goes with the message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from api.cli.chat.attaching import paths_in
from tests.api.cli.command import drive_agent
from tests.api.cli.scripted_service import DONE, RUN, ScriptedService, content

if TYPE_CHECKING:
    from typing import Any


@pytest.mark.parametrize(
    ("message", "paths"),
    [
        ("summarise @/Reports/plan.md", ["/Reports/plan.md"]),
        ("@/a.md and @/b/.", ["/a.md", "/b"]),
        ('compare @"/My files/a b.md" with (@/c.md)', ["/My files/a b.md", "/c.md"]),
        ("总结 @/报告/计划.md，谢谢", ["/报告/计划.md"]),
        ("看看@/a.md", ["/a.md"]),
        ("总结：@/a.md。再看 @/a.md", ["/a.md"]),
        ("@/合同.md里的租金是多少？", ["/合同.md"]),
        ("把@/报告/计划.DOCX翻译成英文", ["/报告/计划.DOCX"]),
        ("@/v2.0版/计划.md和@/预算.xlsx的差别", ["/v2.0版/计划.md", "/预算.xlsx"]),
        ('看@"/合同.md里的 租金.md"', ["/合同.md里的 租金.md"]),
        ("看@“/合同.md里的租金”吧", ["/合同.md里的租金"]),
        ("mail bob@/x and ana@example.com, @somebody", []),
        ("all of @/", ["/"]),
    ],
)
def test_a_path_after_an_at_sign_at_the_beginning_of_a_word_is_attached(message: str, paths: list[str]) -> None:
    assert paths_in(message) == paths


def test_it_goes_with_the_message(scripted: ScriptedService) -> None:
    scripted.script = [RUN, content("Done."), DONE]
    settings = {"DRIVE_AGENT_TOKEN": "t"}
    done = drive_agent("chat", "summarise @/Reports/plan.md", "--url", scripted.url, stdin="", settings=settings)
    assert done.returncode == 0, done.stderr
    sent: dict[str, Any] = scripted.chats[0]
    assert sent["message"] == "summarise @/Reports/plan.md"
    (attached,) = sent["attachments"]
    assert [*attached] in (["file_id"], ["folder_id"])
