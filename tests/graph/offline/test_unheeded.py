"""The offline model does nothing if it did not understand a limit, an exception or a second object of a request."""

import pytest

from graph.offline.understanding.intent import CHANGING
from graph.offline.understanding.requests import understand
from tests.graph.offline.world import Talk

LIMITED = [
    "delete the old lease, but not the new one",
    "empty the trash except for the lease",
    "share the Recipes folder with everybody except tom@example.com",
    "share plan.md with tom@example.com for one week only",
    "rename the photos to trip 1, trip 2 and so on",
    "create a folder for each month",
    "把Samples里除了幻灯片以外的文件都删了",
    "把菜谱都移到旅行里，红烧肉除外",
    "删除百科里的所有文件，但保留广茂铁路",
    "把旧合同删掉，新的留着",
    "把合同共享给 tom@example.com，一周后取消",
    "把其他的菜谱移到旅行里",
]
FORBIDDEN = [
    "don't delete the lease, move it to Archive instead",
    "instead of moving the lease, copy it to Archive",
    "delete the drafts, don't touch the final one",
    "别把合同删了，移到归档就行",
    "不要再把预算共享给 tom@example.com",
    "别再让 tom@example.com 看预算了",
]
OTHER_OBJECTS = [
    "先备份菜谱再删除",
    "back up the lease, then delete it",
    "先复制计划.md，再移到归档",
    "show me the \ue000 folder and delete it",
    "make Maria a viewer of everything she has",
    "undo everything I did yesterday",
    "undo the last three changes",
    "撤销昨天的所有改动",
    "show me the trash and empty it",
    "I want to delete my account",
    "rename all files in Photos to lower case",
    "translate plan.md and save it in Work",
    "write down that I owe Tom 20 euros",
    "delete the section about remote work",
    "删掉“年假”这一节",
]


@pytest.mark.parametrize("text", [*LIMITED, *FORBIDDEN, *OTHER_OBJECTS])
def test_a_request_that_is_not_understood_whole_is_not_begun(text: str) -> None:
    assert not {intent.action for intent in understand(text)} & CHANGING


def test_a_clause_that_only_names_gives_its_name_to_the_request_before() -> None:
    for text, action, name in (
        ('copy the bread recipe and call it "Test"', "copy", "Test"),
        ("把“建议书”改个名，叫“方案”", "rename", "方案"),
        ("新建一个文件夹，名字叫“报税”", "create_folder", "报税"),
        ("在旅行下面建个文件夹“照片”", "create_folder", "照片"),
        ("在公司里建个文件夹叫归档", "create_folder", "归档"),
    ):
        (intent,) = understand(text)
        assert (intent.action, intent.names) == (action, (name,))


def test_a_value_that_is_only_described_is_not_replaced_as_words() -> None:
    for text in ("set the rent to 1,500 EUR", "change the date to 5 May", "把房租改成6000"):
        (intent,) = understand(text)
        assert intent.edits[0][0] == ""
    (intent,) = understand("change 28 days to 30 days in plan.md")
    assert intent.edits == (("28 days", "30 days"),)


@pytest.fixture
def talk() -> Talk:
    talk = Talk()
    talk.drive.put("/Recipes")
    talk.drive.put("/Recipes/Soup.md", "# Soup\n\n250 g lentils, 1 onion. Simmer 25 minutes.\n")
    talk.drive.put("/pdflatex.md", "# Typesetting\n\nA page.\n")
    return talk


@pytest.mark.parametrize("message", ["delete the flat", "move the latex to Recipes", "delete the line", "删掉最后一句"])
def test_a_word_that_only_stands_inside_a_name_names_nothing(talk: Talk, message: str) -> None:
    talk.say(message)
    assert not {"trash_item", "move_item", "patch_file"} & set(talk.called)


@pytest.mark.parametrize(
    ("message", "hours"),
    [
        ("make a link to Soup.md that expires in three weeks", 504),
        ("make a public link to Soup.md for 3 days", 72),
        ("给Soup.md生成一个分享链接，三天后过期", 72),
        ("make a link to Soup.md", None),
    ],
)
def test_a_link_ends_after_the_time_that_is_named(talk: Talk, message: str, hours: int | None) -> None:
    talk.say(message)
    ((_, terms),) = talk.drive.links
    assert terms.get("expires_in_hours") == hours


@pytest.mark.parametrize(
    "message",
    [
        "make a link to Soup.md with a password",
        "make a link to Soup.md that works twice, 3 times at most",
        "make a link to Soup.md until the cows come home",
        "给Soup.md生成一个带密码的链接",
    ],
)
def test_a_link_with_a_term_or_a_password_is_not_made(talk: Talk, message: str) -> None:
    talk.say(message)
    assert talk.drive.links == []


@pytest.mark.parametrize("message", ["how many recipes have I got?", "how much is the soup?"])
def test_a_figure_is_not_taken_from_a_file_that_only_has_the_name(talk: Talk, message: str) -> None:
    assert " says:" not in talk.say(message)


def test_of_minutes_with_dates_the_newest_answers() -> None:
    talk = Talk()
    talk.drive.put(
        "/2026-11-02 weekly.md", "# Weekly\n\nThe launch is planned for 1 December. The launch, the launch.\n"
    )
    talk.drive.put("/2026-11-09 weekly.md", "# Weekly\n\nThe launch moves from 1 December to 15 December.\n")
    said = talk.say("when is the launch?")
    assert "15 December" in said
    assert "planned" not in said


def test_after_a_slip_of_the_person_the_same_message_may_ask_for_the_way_back(talk: Talk) -> None:
    talk.say("delete Soup.md")
    talk.say("哎，删错了，快恢复")
    assert talk.called[-1] == "restore_item"


@pytest.mark.parametrize(
    "text", ["permanently delete plan.md from the trash", "把计划.md删除到回收站", "把计划.md从回收站里清掉", "清空"]
)
def test_the_trash_is_emptied_only_where_nothing_else_is_named(text: str) -> None:
    assert "empty_trash" not in {intent.action for intent in understand(text)}


@pytest.mark.parametrize(
    ("text", "action", "target"),
    [
        ("重命名草稿.md为终稿.md", "rename", "草稿.md"),
        ("帮我重命名一下计划.md", "rename", "计划.md"),
        ("移动计划.md到归档", "move", "计划.md"),
        ("分享预算给 tom@example.com", "share", "预算"),
        ("邀请 tom@example.com 一起编辑计划.md", "share", "计划.md"),
        ("取消tom@example.com对计划.md的访问权限", "revoke", "计划.md"),
        ("remove tom@example.com from the Falcon folder", "revoke", "Falcon"),
        ("tom@example.com should no longer have access to plan.md", "revoke", "plan.md"),
        ("delete plan.md, notes.md and old.md", "delete", "plan.md, notes.md and old.md"),
        ("copy plan.md as plan2.md in Archive", "copy", "plan.md"),
    ],
)
def test_what_is_named_is_meant_and_not_what_was_talked_about(text: str, action: str, target: str) -> None:
    (intent,) = understand(text)
    assert intent.target is not None
    assert (intent.action, intent.target.text) == (action, target)


def test_a_later_clause_gives_a_new_file_its_text_and_a_share_its_role() -> None:
    (made,) = understand("新建一个文件 想法.md，内容是：买自行车")
    (shared,) = understand("把合同共享给 tom@example.com，只读")
    (added,) = understand('insert "x" after "y" in plan.md')
    assert (made.content, shared.role, added.action) == ("买自行车", "viewer", "cannot")


def test_access_is_taken_only_from_who_is_meant(talk: Talk) -> None:
    talk.say("share Soup.md with tom@example.com")
    assert "tom@example.com" in talk.say("remove Maria's access to Soup.md")
    talk.say("share Soup.md with eve@example.com")
    assert "eve@example.com" in talk.say("remove her access again")
    assert len(talk.drive.shares) == 2


def test_a_height_is_no_date_of_the_same_person() -> None:
    talk = Talk()
    talk.drive.put("/周会.md", "# 周会\n\n陈晓：11月24日前订会议室。\n")
    assert "写道" not in talk.say("陈晓多高").split("没有找到明确的答案")[0]


def test_restoring_takes_no_other_change_back(talk: Talk) -> None:
    talk.last_run = "run-1"
    talk.say("create a folder Taxes")
    talk.say("恢复一下")
    assert "undo_changes" not in talk.called


def test_every_clause_of_a_request_is_carried_out_or_none() -> None:
    assert [intent.action for intent in understand("建个文件夹叫归档，把项目建议书移进去")] == ["create_folder", "move"]
    assert [intent.action for intent in understand("thanks, now undo it")] == ["undo"]
    assert not {intent.action for intent in understand("把合同移到归档，把觉得没用的删掉")} & CHANGING


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("move the invoices from May to Paid", "move"),
        ("delete the folder Later", "delete"),
        ("把以后文件夹删掉", "delete"),
        ("he said we may delete the lease", "explain"),
        ("maybe delete the lease", "explain"),
    ],
)
def test_a_name_that_sounds_like_a_supposition_is_a_name(text: str, action: str) -> None:
    assert [intent.action for intent in understand(text)] == [action]


@pytest.mark.parametrize("text", ["谁删除了旧的租约？", "谁改了计划.md？"])
def test_who_changed_an_item_is_asked_of_the_record_of_changes(text: str) -> None:
    (intent,) = understand(text)
    assert intent.action == "list_changes"
    assert intent.target is not None
    assert "谁" not in intent.target.text
    assert "除了" not in intent.target.text
