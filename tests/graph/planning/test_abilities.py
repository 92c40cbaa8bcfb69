"""Steps whose words ask a specialist for something that it can't do, in both languages."""

import pytest

from graph.planning.abilities import cannot
from graph.state import AgentName


@pytest.mark.parametrize(
    ("agent", "instruction", "what"),
    [
        ("document_agent", "create a folder Reports", "create folder"),
        ("document_agent", "新建文件夹报告", "create folder"),
        ("document_agent", "delete plan.md", "delete"),
        ("document_agent", "把计划.md移到归档", "move"),
        ("document_agent", "share plan.md with bob@example.com", "share"),
        ("document_agent", "把计划.md共享给 bob@example.com", "share"),
        ("document_agent", "rename draft.md to final.md", "rename"),
        ("drive_agent", "replace 30 by 45 in plan.md", "edit"),
        ("drive_agent", "把计划.md里的30天改成45天", "edit"),
        ("search_agent", "delete plan.md", "delete"),
        ("search_agent", "删除旧文件夹", "delete"),
        ("search_agent", "move plan.md to Archive", "move"),
    ],
)
def test_a_step_its_specialist_can_not_do_is_found(agent: AgentName, instruction: str, what: str) -> None:
    assert f"({what})" in (cannot(agent, instruction, in_document=False) or "")


@pytest.mark.parametrize(
    ("agent", "instruction"),
    [
        ("document_agent", "replace 30 days with 45 days"),
        ("document_agent", "delete the second paragraph"),
        ("document_agent", "把“删除文件”改成“移除文件”"),
        ("document_agent", "Add a paragraph that explains how to delete a file"),
        ("document_agent", "在计划.md末尾加一行：删除旧文件"),
        ("document_agent", "restore version 3 of plan.md"),
        ("drive_agent", "create a file notes.md with the text: replace nothing"),
        ("drive_agent", "delete everything in Old"),
        ("search_agent", "find the file plan.md and summarise it"),
        ("search_agent", "找到关于删除文件的说明"),
        ("search_agent", "don't delete it, just find it"),
    ],
)
def test_a_step_that_only_speaks_of_it_is_let_be(agent: AgentName, instruction: str) -> None:
    assert cannot(agent, instruction, in_document=False) is None
