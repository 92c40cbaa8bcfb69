"""Routing by words alone, in both languages; the model decides the rest."""

import re
import time
from collections import Counter

import pytest

from graph.routing.intent_table import ROWS, Row
from graph.routing.intents import pattern_agent, read_intent
from graph.routing.wording import prepare
from tests.graph.offline import misleading
from tests.graph.routing.routing_cases import RoutingCase
from tests.graph.routing.routing_practice import ROUTING_PRACTICE


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
        ("delete the second paragraph", False, None),
        ("delete the second paragraph of plan.md", False, "document_agent"),
        ("delete this", True, None),
        ("let bob@example.com edit plan.md", False, "drive_agent"),
        ("restore version 3 of plan.md", False, "document_agent"),
        ("don't delete it, just find it", False, "search_agent"),
        ("搜索一下怎么删除文件的文档", False, "search_agent"),
        ("how do I delete plan.md?", False, None),
        ("my boss told me to delete plan.md", False, None),
        ("delete plan.md if it is empty", False, None),
        ("delete plan.md, no wait, rename it to old.md", False, None),
        ("删掉计划.md，不对，改名为旧计划.md", False, None),
        ("如果合同过期了就删掉", False, None),
        ("移动支付怎么开通", False, None),
        ("pls renmae draft.md to final.md", False, "drive_agent"),
        ("serach for my visa", False, "search_agent"),
        ("remote work starts tomorrow", False, None),
        ("刪除這個資料夾", False, "drive_agent"),
        ("帮我山除草稿.md", False, "drive_agent"),
        ("ｄｅｌｅｔｅ　ｏｌｄ．ｔｘｔ", False, "drive_agent"),
        ("帮我把 Q3 folder share 给 tom@example.com", False, "drive_agent"),
        ("summarise this document", True, "document_agent"),
        ("总结这份文档", True, "document_agent"),
        ("find the invoices", True, "search_agent"),
        ("where did I move the plan?", False, "search_agent"),
        ("hello", False, "drive_agent"),
        ("你好", False, "drive_agent"),
        ("好的", False, None),
        ("", False, None),
    ],
)
def test_the_words_name_a_specialist_or_none(text: str, in_document: bool, agent: str | None) -> None:
    assert pattern_agent(read_intent(text, in_document=in_document)) == agent


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
    "text",
    [
        "delete a.md, b.md goes to Archive",
        "move plan.md to Work, it should be shared with kim@example.com",
        "删掉草稿，终稿加密",
        "把a.md移到归档，b.md也要移",
        "移动a.md到归档，把b.md留下",
    ],
)
def test_what_else_is_wanted_beside_a_request_leaves_the_route_open(text: str) -> None:
    assert pattern_agent(read_intent(text, in_document=False)) is None


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("look up the deposit in lease.pdf and add it to budget.md", ["find", "edit"]),
        ("查一下租约里的押金，加到预算.md里", ["find", "edit"]),
        ("summarise the minutes and append the summary to notes.md", ["read", "edit"]),
        ("translate letter.md into French and share the result with luc@example.com", ["edit", "share"]),
        ("找到水费单移到账单", ["find", "move"]),
        ("把大纲改名为定稿.md并给 kim@example.com 查看权限", ["rename", "share"]),
    ],
)
def test_requests_for_two_specialists_are_a_plan_of_both(text: str, actions: list[str]) -> None:
    intent = read_intent(text, in_document=False)
    assert [ask.action for ask in intent.asks] == actions
    assert intent.several


@pytest.mark.parametrize("case", [case for case in ROUTING_PRACTICE if case.silent], ids=lambda case: case.text)
def test_what_is_forbidden_reported_or_asked_about_fires_no_pattern(case: RoutingCase) -> None:
    assert pattern_agent(read_intent(case.text, in_document=case.in_document)) is None


@pytest.mark.parametrize("text", ["把不要的照片删除", "删除三个月没打开过的文件", "把不在清单里的文件移到归档"])
def test_a_negation_that_describes_the_files_forbids_nothing(text: str) -> None:
    assert pattern_agent(read_intent(text, in_document=False)) == "drive_agent"


def test_what_only_speaks_of_a_change_is_no_request_for_one() -> None:
    readings = {text: read_intent(text, in_document=False) for text in misleading.UTTERANCES}
    assert {pattern_agent(reading) for reading in readings.values()} <= {None, "search_agent"}


@pytest.mark.parametrize("row", [row for row in ROWS if row.action != "unknown"], ids=lambda row: row.action)
def test_each_row_of_the_table_has_examples_in_both_languages_that_it_fits(row: Row) -> None:
    readings = [read_intent(text, in_document="this document" in text or "这份文档" in text) for text in row.examples]
    assert [[ask.action for ask in reading.asks] for reading in readings] == [[row.action]] * len(row.examples)
    assert {re.search("[\u3400-\u9fff]", text) is not None for text in row.examples} == {True, False}


def test_each_action_has_one_row() -> None:
    assert Counter(row.action for row in ROWS).most_common(1)[0][1] == 1


@pytest.mark.parametrize(
    ("text", "prepared"),
    [
        ("Rename “a.md” to ‘b and c’", "rename QUOTE to QUOTE"),
        ("Share plan.md with bob@example.com 🙏", "share FILE with MAIL"),
        ("把「怎麼刪除.md」移東到檔案", "把 QUOTE 移动到文件"),
        ("create a note x that says: delete it", "create a note x"),
        ("总结一下第三季度报告.pdf", "总结一下第三季度报告FILE"),
    ],
)
def test_names_quotes_and_what_is_dictated_are_masked(text: str, prepared: str) -> None:
    assert prepare(text) == prepared


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        '"' * 100_000,
        "“" * 2_000,
        "a@" * 1_000,
        ".a" * 1_000,
        "新建" * 1_000,
        "把" * 2_000,
        "delete " * 280,
        "what " * 400,
        "and move it " * 160,
    ],
)
def test_no_message_takes_long_to_read(text: str) -> None:
    begun = time.process_time()
    read_intent(text, in_document=True)
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("在当前目录中创建计划.md文件并分享给bob@example.com", ["create_file", "share"]),
        ("在笔记文件夹里新建一个文档", ["create_file"]),
        ("把总结保存到笔记里的新文件中", ["create_file"]),
        ("在文档末尾写一个总结", ["edit"]),
        ("在哪个目录中创建文件", []),
        ("在笔记中创建的文件", []),
    ],
)
def test_the_place_may_stand_before_what_is_made_there(text: str, actions: list[str]) -> None:
    assert [ask.action for ask in read_intent(text, in_document=False).asks] == actions
