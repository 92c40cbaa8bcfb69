"""The stories of a working day, told to the offline model in both languages, in a tiny drive."""

from collections.abc import Callable

import pytest

from tests.graph.offline.world import Drive, Talk

HANDBOOK = (
    "# Staff handbook\n\n## Hours\n\nCore hours are ten to four.\n\n## Parental leave\n\n"
    "Every parent may take 16 weeks of paid parental leave. Notice of 30 days is required. "
    "After 30 days the leave can be split.\n\n## Travel\n\nBook trains before planes.\n"
)
HANDBUCH = (
    "# 员工手册\n\n## 工作时间\n\n核心工作时间为上午十点到下午四点。\n\n## 育儿假\n\n"
    "员工可以享受16周的带薪育儿假。申请育儿假须提前30天通知。\n\n## 差旅\n\n优先乘坐火车。\n"
)
CAFETERIA = "# Cafeteria\n\nSoup is served from noon on.\n"


@pytest.fixture
def drive() -> Drive:
    drive = Drive()
    drive.put("/Staff handbook.md", HANDBOOK)
    drive.put("/员工手册.md", HANDBUCH)
    drive.put("/Cafeteria.md", CAFETERIA)
    return drive


@pytest.fixture
def talk(drive: Drive) -> Talk:
    return Talk(drive)


@pytest.mark.parametrize(
    ("message", "name", "passage", "lines"),
    [
        (
            "find the document about parental leave and summarise it",
            "Staff handbook.md",
            "16 weeks of paid parental leave",
            "line 9",
        ),
        ("what does our parental leave policy say?", "Staff handbook.md", "16 weeks of paid parental leave", "line 9"),
        ("找到关于育儿假的文档并总结一下", "员工手册.md", "16周的带薪育儿假", "第 9 行"),
    ],
)
def test_a_document_is_found_by_its_topic_read_and_summed_up_with_its_source(
    talk: Talk, message: str, name: str, passage: str, lines: str
) -> None:
    said = talk.say(message)
    assert name in said
    assert f"`/{name}`" in said
    assert passage in said
    assert lines in said
    assert "Soup" not in said
    assert talk.agents == ["search_agent"]


@pytest.mark.parametrize(
    ("message", "name", "passage"),
    [
        ("how many weeks of parental leave do I get?", "Staff handbook.md", "16 weeks of paid parental leave"),
        ("育儿假要提前多少天通知?", "员工手册.md", "申请育儿假须提前30天通知。"),
    ],
)
def test_a_question_is_answered_with_a_quotation_and_where_it_stands(
    talk: Talk, message: str, name: str, passage: str
) -> None:
    said = talk.say(message)
    assert passage in said
    assert f"`/{name}`" in said
    assert "9" in said


@pytest.mark.parametrize("message", ["what is the capital gains allowance?", "量子物理的考试什么时候?"])
def test_a_question_that_no_document_answers_is_not_answered(talk: Talk, message: str) -> None:
    said = talk.say(message)
    assert "16" not in said
    assert "Soup" not in said


@pytest.mark.parametrize(
    ("message", "folder", "file"),
    [
        (
            "create a folder Reports, move the summary there and share it with bob@example.com",
            "Reports",
            "summary of parental leave.md",
        ),
        ("新建文件夹报告,把总结移到那里,并共享给bob@example.com", "报告", "育儿假总结.md"),
    ],
)
def test_three_requests_are_three_steps_and_pronouns_find_their_things(
    talk: Talk, message: str, folder: str, file: str
) -> None:
    talk.drive.put(f"/{file}", "Sixteen weeks.")
    assert len(talk.plan(message).steps) == 3
    said = talk.say(message)
    assert talk.agents == ["drive_agent"] * 3
    assert talk.drive.names(f"/{folder}") == [file]
    assert talk.drive.shares == [(f"/{folder}/{file}", "bob@example.com", "viewer")]
    assert file in said
    assert "bob@example.com" in said


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        (
            "summarise Staff handbook.md",
            "create a folder Reports, move the summary there and share it with bob@example.com",
            "/Reports/Staff handbook summary.md",
        ),
        ("总结员工手册.md", "新建文件夹报告,把总结移到那里,并共享给bob@example.com", "/报告/员工手册总结.md"),
    ],
)
def test_a_summary_that_was_only_said_becomes_a_file(talk: Talk, first: str, second: str, path: str) -> None:
    summary = talk.say(first)
    said = talk.say(second)
    assert "create_file" in talk.called
    assert "move_item" not in talk.called
    assert talk.drive.texts[talk.drive.find(path)["id"]] == [summary.strip().replace(" [1]", "") + "\n"]
    assert path in said
    assert talk.drive.shares == [(path, "bob@example.com", "viewer")]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("share plan.md with nobody@example.com", "Nobody has an account with nobody@example.com here"),
        ("把 plan.md 共享给 nobody@example.com", "nobody@example.com 在这里没有账户"),
    ],
)
def test_a_share_with_an_address_without_an_account_says_so_and_offers_a_link(
    talk: Talk, message: str, words: str
) -> None:
    talk.drive.put("/plan.md", "x")
    said = talk.say(message)
    assert words in said
    assert ("make a link" in said) or ("创建链接" in said)
    known = talk.say(message.replace("nobody@", "bob@"))
    assert "account" not in known
    assert "账户" not in known


def test_without_any_summary_it_asks_which_file_is_meant(talk: Talk) -> None:
    talk.drive.put("/Reports")
    said = talk.say("move the summary to Reports")
    assert said.endswith("Which file do you mean?")
    assert talk.drive.names("/Reports") == []


def test_of_several_summaries_the_one_of_just_that_name_is_taken(talk: Talk) -> None:
    talk.drive.put("/Reports")
    for name in ("summary of travel.md", "Summary.md"):
        talk.drive.put(f"/{name}", "x")
    talk.say("move the summary to Reports")
    assert talk.drive.names("/Reports") == ["Summary.md"]


def test_what_the_person_edits_in_an_approval_is_what_is_told(talk: Talk) -> None:
    talk.drive.put("/plan.md", "x")
    talk.verdict = lambda name, args: {**args, "role": "editor"} if name == "share_item" else "approve"
    said = talk.say("share plan.md with bob@example.com")
    assert talk.drive.shares == [("/plan.md", "bob@example.com", "editor")]
    assert "as editor" in said


@pytest.mark.parametrize(
    ("name", "message", "old", "new"),
    [
        ("/Staff handbook.md", "replace 30 days with 45 days in this document", "30 days", "45 days"),
        ("/Staff handbook.md", "change every “30 days” to “45 days”", "30 days", "45 days"),
        ("/员工手册.md", "把这份文档里的30天改成45天", "30天", "45天"),
    ],
)
def test_every_occurrence_is_replaced_in_one_call_whose_edits_each_match_once(
    talk: Talk, name: str, message: str, old: str, new: str
) -> None:
    key: str = talk.drive.find(name)["id"]
    talk.file_id = key
    before = talk.drive.texts[key][0]
    said = talk.say(message)
    assert talk.agents == ["document_agent"]
    assert talk.called == ["read_file", "patch_file"]
    assert talk.drive.texts[key] == [before, before.replace(old, new)]
    assert new in said
    assert "2" in said


@pytest.mark.parametrize("message", ["delete everything in Old", "删除Old里的所有内容", "把Old文件夹清空"])
def test_everything_in_a_folder_goes_in_one_round_and_a_rejection_is_told_plainly(talk: Talk, message: str) -> None:
    talk.drive.put("/Old")
    for name in ("a.txt", "b.txt", "图片.txt"):
        talk.drive.put(f"/Old/{name}", name)
    talk.verdict = lambda name, _: "reject" if name == "trash_item" else "approve"
    said = talk.say(message)
    assert talk.called.count("trash_item") == 3
    assert talk.rounds[-1] == 3
    assert talk.drive.names("/Old") == ["a.txt", "b.txt", "图片.txt"]
    assert "rejected" in said or "拒绝" in said
    talk.verdict = lambda _, __: "approve"
    said = talk.say(message)
    assert talk.drive.names("/Old") == []
    assert "图片.txt" in said
    assert "restored" in said or "恢复" in said


def test_a_folder_of_more_than_one_page_is_emptied_with_one_question(talk: Talk) -> None:
    talk.drive.put("/Old")
    for number in range(70):
        talk.drive.put(f"/Old/{number:03}.txt", "x")
    talk.say("delete everything in Old")
    assert talk.drive.names("/Old") == []
    assert talk.rounds[-1] == 70


def test_of_a_folder_that_is_too_long_to_list_nothing_is_deleted(talk: Talk) -> None:
    talk.drive.put("/Old")
    for number in range(130):
        talk.drive.put(f"/Old/{number:03}.txt", "x")
    assert "130 items, more than I can take at once" in talk.say("delete everything in Old")
    assert len(talk.drive.names("/Old")) == 130


@pytest.mark.parametrize("message", ["undo that", "撤销刚才的操作", "take it back", "恢复原样"])
def test_undoing_is_about_the_last_run_that_changed_something(talk: Talk, message: str) -> None:
    talk.last_run = "run-7"
    said = talk.say(message)
    assert talk.calls == [("undo_changes", {"run_id": "run-7"})]
    assert "a.txt" in said


def test_a_pronoun_means_what_the_last_answer_was_about(talk: Talk) -> None:
    talk.drive.put("/Archive")
    talk.drive.put("/plan.md", "x")
    talk.say("where is plan.md?")
    talk.say("rename it to roadmap")
    assert talk.drive.names("/") == ["Archive", "Cafeteria.md", "Staff handbook.md", "roadmap.md", "员工手册.md"]
    talk.say("move it to Archive")
    assert talk.drive.names("/Archive") == ["roadmap.md"]
    talk.say("把它共享给bob@example.com,可编辑")
    assert talk.drive.shares == [("/Archive/roadmap.md", "bob@example.com", "editor")]


@pytest.mark.parametrize("choice", ["2", "the second one", "第二个", "/B/plan.md", "the one in B"])
def test_an_ambiguous_name_is_asked_about_and_the_choice_carries_on(talk: Talk, choice: str) -> None:
    for folder in ("A", "B", "Done"):
        talk.drive.put(f"/{folder}")
    for folder in ("A", "B"):
        talk.drive.put(f"/{folder}/plan.md", folder)
    said = talk.say("move plan.md to Done")
    assert "`/A/plan.md`" in said
    assert "`/B/plan.md`" in said
    assert talk.drive.names("/Done") == []
    talk.say(choice)
    assert talk.drive.names("/Done") == ["plan.md"]
    assert talk.drive.names("/B") == []


def test_the_one_in_the_persons_own_folder_is_meant_if_there_is_one(talk: Talk) -> None:
    talk.folder_id = talk.drive.put("/A")
    for path in ("/A/plan.md", "/plan.md"):
        talk.drive.put(path, path)
    talk.say("delete plan.md")
    assert talk.drive.names("/A") == []


@pytest.mark.parametrize("message", ["share plan.md with Bob", "把plan.md共享给小王"])
def test_without_an_address_nothing_is_shared(talk: Talk, message: str) -> None:
    talk.drive.put("/plan.md", "x")
    said = talk.say(message)
    assert "address" in said or "地址" in said
    assert talk.calls == []


FREQUENT: list[tuple[str, Callable[[str, Drive], bool]]] = [
    ("list Reports", lambda said, _: "plan.md" in said),
    ("show the folder tree", lambda said, _: "Reports" in said),
    ("how big is plan.md?", lambda said, _: "/Reports/plan.md" in said),
    ("read plan.md", lambda said, _: "We ship in May." in said),
    ("rename plan.md to roadmap.md", lambda _, drive: drive.names("/Reports") == ["roadmap.md"]),
    ("create folders A and B", lambda _, drive: {"A", "B"} <= set(drive.names("/"))),
    ("create a file todo.md with the content: buy milk", lambda _, drive: "todo.md" in drive.names("/")),
    ("move everything in Reports to Archive", lambda _, drive: drive.names("/Archive") == ["plan.md"]),
    ("delete plan.md", lambda _, drive: drive.names("/Reports") == []),
    ("what changed lately?", lambda said, _: "2026-01-01 08:30" in said),
    ("who am I?", lambda said, _: "me@example.com" in said),
    ("replace May with June in plan.md", lambda _, drive: drive.text("/Reports/plan.md") == "We ship in June.\n"),
    ("append 'The end.' to plan.md", lambda _, drive: drive.text("/Reports/plan.md").endswith("May.\nThe end.\n")),
    ("list the versions of plan.md", lambda said, _: "- 1:" in said),
    ("who has access to plan.md?", lambda said, _: "not shared" in said),
    ("copy plan.md to Archive", lambda _, drive: drive.names("/Archive") == ["plan.md"]),
    ("duplicate plan.md", lambda _, drive: drive.names("/Reports") == ["plan.md", "plan.md (2)"]),
    ("make a public link to plan.md", lambda _, drive: drive.links == [("/Reports/plan.md", {})]),
    ("how many files do I have?", lambda said, _: "4 files" in said),
    ("how much space do I use?", lambda said, _: "2.0 KB" in said),
    ("redo", lambda said, _: "a.txt" in said),
    ("what is in the trash?", lambda said, _: "empty" in said),
    ("what has been shared with me?", lambda said, _: "Nobody" in said),
]


@pytest.mark.parametrize(("message", "check"), FREQUENT)
def test_the_frequent_requests_do_what_they_say(talk: Talk, message: str, check: Callable[[str, Drive], bool]) -> None:
    talk.drive.put("/Reports")
    talk.drive.put("/Archive")
    talk.drive.put("/Reports/plan.md", "We ship in May.\n")
    assert check(talk.say(message), talk.drive)


def test_what_was_deleted_comes_back_by_name_or_by_pronoun(talk: Talk) -> None:
    talk.say("delete Cafeteria.md")
    said = talk.say("restore it")
    assert "Cafeteria.md" in talk.drive.names("/")
    talk.say("delete Cafeteria.md")
    said = talk.say("restore Cafeteria.md")
    assert "`/Cafeteria.md`" in said
    assert "Cafeteria.md" in talk.drive.names("/")


def test_a_file_that_was_copied_first_is_deleted_itself(talk: Talk) -> None:
    talk.drive.put("/Archive")
    message = "copy Cafeteria.md to Archive and delete Cafeteria.md"
    assert len(talk.plan(message).steps) == 2
    talk.say(message)
    assert talk.drive.names("/Archive") == ["Cafeteria.md"]
    assert "Cafeteria.md" not in talk.drive.names("/")


def test_going_back_to_the_version_before_finds_its_number(talk: Talk) -> None:
    key = talk.drive.find("/Cafeteria.md")["id"]
    talk.drive.texts[key].append("worse")
    talk.file_id = key
    talk.say("go back to the previous version")
    assert talk.drive.texts[key][-1] == CAFETERIA


def test_access_is_taken_back_from_everybody_who_has_it(talk: Talk) -> None:
    talk.drive.shares = [("/Cafeteria.md", "a@x.org", "viewer"), ("/Cafeteria.md", "b@x.org", "editor")]
    talk.say("make Cafeteria.md private again")
    assert talk.drive.shares == []


def test_of_things_that_fit_equally_well_none_is_touched(talk: Talk) -> None:
    for folder in ("A", "B"):
        talk.drive.put(f"/{folder}")
        talk.drive.put(f"/{folder}/plan.md", folder)
    for text in ("delete plan.md", "share plan.md with bob@example.com", "把plan.md改名为x.md"):
        assert "`/A/plan.md`" in talk.say(text)
        assert not {"trash_item", "share_item", "rename_item"} & set(talk.called)


def test_a_role_changes_and_the_trash_is_emptied(talk: Talk) -> None:
    talk.say("share Cafeteria.md with bob@example.com")
    talk.say("make him an editor")
    assert talk.drive.shares == [("/Cafeteria.md", "bob@example.com", "editor")]
    talk.say("delete Cafeteria.md")
    talk.say("empty the trash")
    assert all(item["name"] != "Cafeteria.md" for item in talk.drive.items.values())


def test_without_a_change_in_the_conversation_nothing_is_taken_back(talk: Talk) -> None:
    said = talk.say("undo")
    assert talk.called == []
    assert "nothing to take back" in said


def test_a_sum_is_not_claimed_but_the_nearest_passage_is_quoted(talk: Talk) -> None:
    talk.drive.put("/i1.md", "# Invoice\n\nFrom: Ikea\nDate: 5 May 2031\n\nTotal: 10.50 EUR\n")
    talk.drive.put("/i2.md", "# Invoice\n\nFrom: Ikea\nDate: 6 May 2031\n\nTotal: 2.00 EUR\n")
    assert "no clear answer" in talk.say("how much did I pay Ikea in 2031?")
