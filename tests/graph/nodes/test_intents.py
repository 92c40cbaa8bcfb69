"""What words alone decide, in both languages; what they leave open goes to the model."""

import time

import pytest

from graph.nodes.intents import is_follow_up, pattern_agent, read_intent


@pytest.mark.parametrize(
    ("text", "in_document", "agent"),
    [
        ("find the document about parental leave and summarise it", False, "search_agent"),
        ("找到关于育儿假的文档并总结一下", False, "search_agent"),
        ("what does the handbook say about travel?", False, "search_agent"),
        ("delete everything in Old", False, "drive_agent"),
        ("删除Old里的所有内容", False, "drive_agent"),
        ("undo that", True, "drive_agent"),
        ("撤销刚才的操作", False, "drive_agent"),
        ("rename draft.md to final.md", False, "drive_agent"),
        ("share “replace this” with bob@example.com", False, "drive_agent"),
        ("把报告共享给 bob@example.com", False, "drive_agent"),
        ("who has access to Reports?", False, "drive_agent"),
        ("replace 30 days with 45 days in this document", True, "document_agent"),
        ("把这份文档里的30天改成45天", True, "document_agent"),
        ("delete the second paragraph", True, "document_agent"),
        ("把第二段删掉", True, "document_agent"),
        ("delete the second paragraph", False, "drive_agent"),
        ("summarise this document", True, "document_agent"),
        ("总结这份文档", True, "document_agent"),
        ("find the invoices", True, "search_agent"),
        ("where did I move the plan?", False, None),
        ("hello", False, None),
        ("你好", False, None),
        ("", False, None),
    ],
)
def test_the_words_name_a_specialist_or_none(text: str, in_document: bool, agent: str | None) -> None:
    assert pattern_agent(read_intent(text, in_document=in_document), in_document=in_document) == agent


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("create a folder Reports, move the summary there and share it with bob@example.com", True),
        ("新建文件夹报告,把总结移到那里,并共享给bob@example.com", True),
        ("find the invoices and move them to Archive", True),
        ("删除Old然后把a.md重命名为b.md", True),
        ("find the report and summarise it", False),
        ("delete a.txt and b.txt", False),
        ("把a.txt和b.txt移到归档", False),
        ("fix the typos and translate it", False),
        ('rename "move and share" to x', False),
        ("合并列表", False),
    ],
)
def test_several_actions_need_a_plan_if_one_of_them_changes_something(text: str, several: bool) -> None:
    assert read_intent(text, in_document=False).several is several


@pytest.mark.parametrize(
    "text", ["yes", "and the second one, the one from last year that we talked about?", "继续", "那第二个呢"]
)
def test_a_continuation_is_recognised(text: str) -> None:
    assert is_follow_up(text)


@pytest.mark.parametrize(
    "text", ["My colleague would like to know how the budget of next year came about", "x" * 5_000]
)
def test_a_new_subject_is_no_continuation(text: str) -> None:
    assert not is_follow_up(text)


@pytest.mark.parametrize(
    "text", ["a" * 100_000, '"' * 100_000, "“" * 2_000, "a@" * 1_000, ".a" * 1_000, "新建" * 1_000]
)
def test_no_message_takes_long_to_read(text: str) -> None:
    begun = time.perf_counter()
    read_intent(text, in_document=True)
    assert time.perf_counter() - begun < 1
