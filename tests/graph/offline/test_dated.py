"""Files asked for by a time: no name and no topic, only when they were changed or added."""

import pytest

from graph.offline.scripts.listing import span_of
from graph.offline.understanding.requests import understand
from tests.graph.offline.world import Drive, Talk

CHANGED = [
    ("files changed in 2001", ("2001", "2001")),
    ("Which files did I change in 2001?", ("2001", "2001")),
    ("show me the documents that were modified yesterday", ("yesterday", "yesterday")),
    ("Find files edited in May 2020", ("may 2020", "may 2020")),
    ("photos from 2019", ("2019", "2019")),
    ("What files are from last month?", ("last month", "last month")),
    ("files modified since 2020-01-05", ("since 2020-01-05", "")),
    ("documents before 2005", ("", "before 2005")),
    ("2001年修改的文件", ("2001年", "2001年")),
    ("今年修改过哪些文件？", ("今年", "今年")),
    ("我上个月改了哪些文件", ("上个月", "上个月")),
    ("2020年5月的照片", ("2020年5月", "2020年5月")),
    ("最近7天编辑过的文档有哪些", ("最近7天", "最近7天")),
    ("哪些文件是2001年修改的", ("2001年", "2001年")),
    ("帮我找2005年以前的文件", ("", "2005年之前")),
]
ADDED = [
    ("which files did I add last week", ("last week", "last week")),
    ("files uploaded this month", ("this month", "this month")),
    ("上周添加的文件有哪些", ("上周", "上周")),
    ("我昨天上传了哪些文件？", ("昨天", "昨天")),
]
NOT_DATED = [
    "What was our revenue in 2001?",
    "2001年的收入是多少？",
    "find the report from 2019",
    "contracts that I signed in 2001",
    "What did I change last week?",
    "上周我改了什么",
    "delete files changed in 2001",
    "删除2001年修改的文件",
    "list files",
    "move the files from last month to Archive",
    "把上个月的文件移到归档",
    "create a folder photos from 2019",
    "summarise the files from last month",
    "2019 budget.xlsx",
    "how many files were changed in 2001?",
]


@pytest.fixture
def talk() -> Talk:
    drive = Drive()
    drive.put("/old.txt", "old")
    return Talk(drive)


def ends(filters: dict[str, str], *names: str) -> tuple[str, ...]:
    return tuple(filters.get(name, "") for name in names)


@pytest.mark.parametrize(("message", "span"), CHANGED, ids=str)
def test_files_of_a_time_are_listed_by_their_dates(talk: Talk, message: str, span: tuple[str, str]) -> None:
    said = talk.say(message)
    assert "`/old.txt`" in said
    assert ends(talk.drive.filters, "modified_after", "modified_before") == span


@pytest.mark.parametrize(("message", "span"), ADDED, ids=str)
def test_files_that_were_added_in_a_time_are_listed_by_the_changes(
    talk: Talk, message: str, span: tuple[str, str]
) -> None:
    assert "a.txt" in talk.say(message)
    assert ends(talk.drive.filters, "since", "until", "kind") == (*span, "create")


def test_only_files_of_the_sort_that_is_named_are_listed(talk: Talk) -> None:
    talk.say("photos from 2019")
    assert talk.drive.filters["types"] == ["image"]
    talk.say("2020年的表格")
    assert talk.drive.filters["types"] == ["spreadsheet"]


@pytest.mark.parametrize("message", NOT_DATED)
def test_a_question_about_contents_and_a_change_are_none(message: str) -> None:
    assert "dated" not in [intent.action for intent in understand(message)]


def test_a_single_day_ends_with_the_day() -> None:
    assert span_of("2020-02-29") == ("2020-02-29", "2020-03-01")
