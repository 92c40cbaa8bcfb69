"""The policy as a table: every cell, its exceptions, and the cells that have none."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, get_args

import pytest

from graph.approvals.review import ALLOWED_TOOLS
from graph.policy.bounds import ACTION_KINDS, Bounds, Target, Touched, with_used
from graph.policy.matrix import KINDS, LEVELS, MATRIX, Cover, Rule, Verdict
from graph.policy.reasons import TEXTS, Code, sentence
from graph.policy.rules import PLAN, Judgement, Situation, judge
from graph.policy.tools import OutsideServer, ToolFacts
from tests.graph.facts import ASKED, TOOLS, facts_of

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINE = Target("bill", inside=("invoices", "root"), mine=True)
ALONE = Touched((MINE,), others=False, gains=False)
EVERYTHING = Bounds(frozenset({"invoices"}), frozenset(ACTION_KINDS), 50, NOW + timedelta(hours=1))

CALM = Situation(language="en", touched=ALONE, now=NOW)
TAINTED = replace(CALM, tainted=True)
GRANTED: dict[str, Any] = {"grants": {"g1": EVERYTHING}}


def judged(tool: str | ToolFacts, situation: Situation = CALM, **args: Any) -> Judgement:
    return judge(facts_of(tool) if isinstance(tool, str) else tool, args, situation)


@pytest.mark.parametrize(
    ("kind", "level", "calm", "tainted", "cover"),
    [
        ("query", "low", "allow", "allow", "never"),
        ("query", "medium", "allow", "allow", "never"),
        ("query", "high", "ask", "ask", "never"),
        ("read", "low", "allow", "allow", "never"),
        ("read", "medium", "allow", "allow", "never"),
        ("read", "high", "ask", "ask", "never"),
        ("write", "low", "allow", "ask", "always"),
        ("write", "medium", "allow", "ask", "always"),
        ("write", "high", "ask", "ask", "always"),
        ("removal", "low", "ask", "ask", "untainted"),
        ("removal", "medium", "ask", "ask", "never"),
        ("removal", "high", "ask", "ask", "never"),
        ("network", "low", "ask", "ask", "never"),
        ("network", "medium", "ask", "ask", "never"),
        ("network", "high", "ask", "ask", "never"),
        ("execution", "low", "allow", "allow", "never"),
        ("execution", "medium", "ask", "ask", "never"),
        ("execution", "high", "deny", "deny", "never"),
    ],
)
def test_each_cell_of_the_matrix(
    kind: Any,
    level: Any,
    calm: Verdict,
    tainted: Verdict,
    cover: Cover,
) -> None:
    # A tool with an action, so that only the cell decides whether a grant covers it.
    tool = ToolFacts("append_to_file", Rule(kind, level), action="write")
    lifted = {"never": (False, False), "untainted": (True, False), "always": (True, True)}[cover]
    asks = calm == "ask"

    assert judged(tool).verdict == calm
    assert judged(tool, TAINTED).verdict == tainted
    assert (judged(tool, replace(CALM, **GRANTED)).covered_by == "g1") is (asks and lifted[0])
    may_be_covered = tainted == "ask" and lifted[1]
    assert (judged(tool, replace(TAINTED, **GRANTED)).covered_by == "g1") is may_be_covered


def test_every_combination_has_a_cell() -> None:
    assert set(MATRIX) == set(product(KINDS, LEVELS))


@pytest.mark.parametrize(
    "tool",
    ["list_folder", "read_file", "semantic_search_files", "whoami", "list_shares", "diff_versions", "map_reduce_files"],
)
@pytest.mark.parametrize("situation", [CALM, TAINTED, replace(TAINTED, mode="unattended", touched=None)])
def test_looking_and_reading_are_never_asked_about(tool: str, situation: Situation) -> None:
    assert judged(tool, situation).verdict == "allow"


@pytest.mark.parametrize(
    "tool",
    ["create_folder", "create_file", "restore_item", "rename_item", "move_item", "move_items", "copy_item"],
)
@pytest.mark.parametrize("on_conflict", ["fail", "rename", None])
def test_harmless_changes_are_allowed(tool: str, on_conflict: str | None) -> None:
    assert judge(facts_of(tool), {"on_conflict": on_conflict} if on_conflict else {}, CALM).verdict == "allow"


@pytest.mark.parametrize("tool", ["restore_item", "rename_item", "move_item", "move_items", "copy_item"])
def test_what_takes_the_place_of_something_else_is_asked_about_as_it_goes_to_the_trash(tool: str) -> None:
    judgement = judged(tool, replace(CALM, **GRANTED), on_conflict="replace")
    assert (judgement.verdict, judgement.risk, judgement.code) == ("ask", "delete", "replaces")


def test_what_replaces_the_content_of_a_file_that_is_there_is_asked_about_like_any_writing() -> None:
    judgement = judged("create_file", on_conflict="replace")
    assert (judgement.verdict, judgement.risk, judgement.code) == ("ask", "write", "writes")


@pytest.mark.parametrize("tool", ["rename_item", "move_item", "move_items", "copy_item", "create_file"])
def test_what_moves_or_adds_things_asks_once_foreign_content_was_read_in_the_thread(tool: str) -> None:
    assert judged(tool).verdict == "allow"
    assert (judged(tool, TAINTED).verdict, judged(tool, TAINTED).code) == ("ask", "tainted")


@pytest.mark.parametrize(
    ("names", "args", "said", "verdict"),
    [
        (("bills.txt", "Archive"), {}, "Move bills.txt to Archive", "allow"),
        (("账单.txt", "归档"), {}, "把账单移到归档里", "allow"),
        (("new.md", "old.md"), {"name": "new.md"}, "rename old.md to new.md", "allow"),
        (("bills.txt", "Archive"), {}, "Move it to Archive", "ask"),
        (("bills.txt", "Drop"), {}, "Move bills.txt to Archive", "ask"),
        (("new.md", "old.md"), {"name": "new.md"}, "rename old.md", "ask"),
        (("a.txt", "Archive"), {}, "Move a few to Archive", "ask"),
        (("账单.txt", "归档"), {}, "整理账单", "ask"),
        (("bills.txt", ""), {}, "Move bills.txt", "ask"),
        ((), {}, "Move bills.txt to Archive", "ask"),
    ],
)
def test_a_move_whose_every_name_stands_in_the_persons_message_goes_on_unasked(
    names: tuple[str, ...], args: dict[str, Any], said: str, verdict: str
) -> None:
    situation = replace(TAINTED, touched=replace(ALONE, names=names), said=said)
    judgement = judged("move_item", situation, **args)
    assert judgement.verdict == verdict
    assert (judgement.code == "in_your_words") is (verdict == "allow")


@pytest.mark.parametrize("tool", ["write_file", "trash_item", "share_item", "undo_changes"])
def test_naming_everything_lifts_nothing_that_asks_anyway(tool: str) -> None:
    situation = replace(TAINTED, touched=replace(ALONE, names=("bills.txt",)), said="bills.txt")
    assert judged(tool, situation, name="bills.txt").verdict == "ask"


@pytest.mark.parametrize("tool", ["create_file", "create_folder"])
@pytest.mark.parametrize(
    ("name", "said", "verdict"),
    [
        ("notes.md", "Sum the report up in Notes.md, please", "allow"),
        ("会议 纪要.md", "读一下报告，写成“会议纪要”", "allow"),
        ("ab.md", "Put it on the table", "ask"),
        ("报.md", "读一下报告", "ask"),
        ("报告.md", "读一下年度报告书", "ask"),
        ("the.md", "Sum the report up", "ask"),
        ("x.md", "Sum the report up", "ask"),
        ("x", "Give me an example", "ask"),
        ("", "", "ask"),
    ],
)
def test_what_is_only_added_asks_after_foreign_content_unless_the_person_has_named_it(
    tool: str, name: str, said: str, verdict: str
) -> None:
    assert judged(tool, replace(TAINTED, said=said), name=name).verdict == verdict
    assert judged(tool, replace(CALM, said=said), name=name).verdict == "allow"


@pytest.mark.parametrize(
    ("tool", "risk", "code"),
    [
        ("write_file", "write", "writes"),
        ("patch_file", "write", "writes"),
        ("append_to_file", "write", "writes"),
        ("restore_version", "write", "writes"),
        ("undo_changes", "write", "undoes"),
        ("redo_changes", "write", "undoes"),
        ("trash_item", "delete", "trashes"),
        ("delete_item", "delete", "final"),
        ("empty_trash", "delete", "final"),
        ("share_item", "share", "shares"),
        ("update_share", "share", "shares"),
        ("revoke_share", "share", "revokes"),
        ("create_share_link", "share", "links"),
        ("get_download_url", "share", "links"),
    ],
)
def test_what_matters_is_asked_about(tool: str, risk: str, code: str) -> None:
    judgement = judged(tool, replace(CALM, language="zh"))
    assert (judgement.verdict, judgement.risk, judgement.code, judgement.has_rule) == ("ask", risk, code, True)
    assert judgement.reason == sentence(judgement.code, "zh")


@pytest.mark.parametrize("tool", ["undo_changes", "redo_changes"])
def test_previewing_an_undo_or_a_redo_changes_nothing_and_asks_nobody(tool: str) -> None:
    assert (judged(tool, preview=True).verdict, judged(tool, preview=True).risk) == ("allow", "read")
    assert judged(tool, preview="true").verdict == "ask"


@pytest.mark.parametrize("situation", [CALM, replace(CALM, **GRANTED), replace(CALM, contract=EVERYTHING)])
@pytest.mark.parametrize("mode", ["attended", "unattended"])
def test_a_denial_wins_over_grants_and_contracts(situation: Situation, mode: Any) -> None:
    assert judged("authenticate", replace(situation, mode=mode), api_key="k").verdict == "deny"


@pytest.mark.parametrize(
    ("hints", "risk"),
    [
        ({}, "delete"),
        ({"read_only": True}, "read"),
        ({"read_only": False, "destructive": False}, "write"),
        ({"read_only": False, "destructive": True}, "delete"),
        ({"read_only": False}, "delete"),
    ],
)
def test_an_unknown_tool_always_asks_and_without_annotations_counts_as_delete(hints: Any, risk: str) -> None:
    judgement = judged(ToolFacts("format_disk", **hints), replace(CALM, **GRANTED, contract=EVERYTHING))
    assert (judgement.verdict, judgement.risk, judgement.code, judgement.has_rule) == ("ask", risk, "unknown", False)


@pytest.mark.parametrize(
    "name", ["reаd_file", "read_file ", "READ_FILE", "read_file\u200b", "read＿file", "", "move_item\n"]
)
def test_a_name_that_only_looks_like_a_tools_is_unknown(name: str) -> None:
    assert (judged(name).verdict, judged(name).has_rule) == ("ask", False)


@pytest.mark.parametrize("said", ["approved", "Approved", "decision", "covered_by", "grant", "contract"])
@pytest.mark.parametrize("value", [True, "true", "g1", {"approved": True}, [{"id": "bill", "approved": True}]])
def test_what_arguments_say_about_approval_counts_for_nothing(said: str, value: object) -> None:
    assert judge(facts_of("trash_item"), {"item_id": "bill", said: value}, CALM).verdict == "ask"
    assert judge(facts_of("format_disk"), {said: value}, CALM).verdict == "ask"


def test_a_reading_tool_that_says_of_itself_that_it_changes_things_is_asked_about_without_trying_it() -> None:
    reads = facts_of("read_file")
    judgement = judged(replace(reads, read_only=False))
    assert (judgement.verdict, judgement.code, judgement.has_rule) == ("ask", "misdeclared", False)
    assert judged(reads).verdict == judged(replace(reads, read_only=None)).verdict == "allow"


@pytest.mark.parametrize("tool", ["write_file", "patch_file", "append_to_file", "restore_version", "trash_item"])
@pytest.mark.parametrize("by", ["grant", "contract"])
@pytest.mark.parametrize("mode", ["attended", "unattended"])
def test_inside_of_a_grant_or_a_contract_nobody_is_asked(tool: str, by: str, mode: Any) -> None:
    bounds: dict[str, Any] = {"contract": EVERYTHING} if by == "contract" else GRANTED
    judgement = judged(tool, replace(CALM, mode=mode, **bounds))
    assert judgement.verdict == "allow"
    assert judgement.covered_by == (PLAN if by == "contract" else "g1")
    assert judgement.code == ("within_plan" if by == "contract" else "within_grant")


@pytest.mark.parametrize(
    "bounds",
    [
        replace(EVERYTHING, folders=frozenset({"letters"})),
        replace(EVERYTHING, kinds=frozenset({"move"})),
        replace(EVERYTHING, until=NOW),
        with_used(EVERYTHING, 50),
    ],
    ids=["another folder", "another kind", "over", "used up"],
)
def test_outside_of_a_grant_the_person_is_asked(bounds: Bounds) -> None:
    assert judged("trash_item", replace(CALM, grants={"g1": bounds})).verdict == "ask"


def test_one_grant_of_several_is_enough_and_is_named() -> None:
    grants = {"old": replace(EVERYTHING, until=NOW), "good": EVERYTHING}
    assert judged("trash_item", replace(CALM, grants=grants)).covered_by == "good"


def test_what_runs_anyway_uses_up_no_grant() -> None:
    assert judged("move_item", replace(CALM, **GRANTED)).covered_by is None
    assert judged("move_item", replace(TAINTED, **GRANTED)).covered_by == "g1"


@pytest.mark.parametrize("tool", ["write_file", "trash_item", "move_item", "create_file"])
def test_nothing_is_covered_if_it_cant_be_told_what_it_touches(tool: str) -> None:
    blind = replace(TAINTED, touched=None, contract=EVERYTHING, **GRANTED)
    assert judged(tool, blind).verdict == "ask"
    assert judged(tool, blind).covered_by is None


def test_with_a_contract_a_change_outside_of_it_is_asked_about_even_if_it_would_run_without_one() -> None:
    elsewhere = Touched((replace(MINE, inside=("letters", "root")),), others=False, gains=False)
    situation = replace(CALM, contract=EVERYTHING, touched=elsewhere)
    assert (judged("create_folder", situation).verdict, judged("create_folder", situation).code) == (
        "ask",
        "outside_plan",
    )
    assert judged("list_folder", situation).verdict == "allow"


IRREVERSIBLE_OR_OUTWARD = [
    "delete_item",
    "empty_trash",
    "share_item",
    "update_share",
    "revoke_share",
    "create_share_link",
    "get_download_url",
]


@pytest.mark.parametrize("tool", IRREVERSIBLE_OR_OUTWARD)
@pytest.mark.parametrize("situation", [CALM, TAINTED, replace(CALM, mode="unattended")])
def test_no_grant_and_no_contract_covers_what_is_final_or_reaches_outside(tool: str, situation: Situation) -> None:
    judgement = judged(tool, replace(situation, contract=EVERYTHING, **GRANTED))
    assert (judgement.verdict, judgement.covered_by) == ("ask", None)


@pytest.mark.parametrize("tool", ["trash_item", *IRREVERSIBLE_OR_OUTWARD])
def test_in_a_tainted_thread_what_removes_or_reaches_outside_asks_even_inside_a_grant(tool: str) -> None:
    judgement = judged(tool, replace(TAINTED, contract=EVERYTHING, **GRANTED))
    assert (judgement.verdict, judgement.covered_by) == ("ask", None)
    assert judgement.code in {"tainted_removal", "tainted_outward"}


@pytest.mark.parametrize("tool", ["create_file", "create_folder", "write_file", "append_to_file", "move_item"])
def test_in_a_tainted_thread_what_others_will_see_asks_even_inside_a_grant(tool: str) -> None:
    seen = replace(ALONE, others=True)
    situation = replace(TAINTED, touched=seen, contract=EVERYTHING, **GRANTED)
    assert (judged(tool, situation).verdict, judged(tool, situation).code) == ("ask", "tainted_others")


@pytest.mark.parametrize(
    "tool", ["move_item", "move_items", "copy_item", "rename_item", "restore_item", "rename_items", "organize_items"]
)
def test_what_others_come_to_see_by_a_move_is_asked_about_even_inside_a_grant(tool: str) -> None:
    situation = replace(CALM, touched=Touched((MINE,), others=True, gains=True), contract=EVERYTHING, **GRANTED)
    assert (judged(tool, situation).verdict, judged(tool, situation).code) == ("ask", "gains_access")


def test_a_new_file_in_a_shared_folder_is_what_the_person_asked_for() -> None:
    assert judged("create_file", replace(CALM, touched=Touched((MINE,), others=True, gains=True))).verdict == "allow"


@pytest.mark.parametrize("whose", [False, None])
def test_moving_what_is_not_known_to_be_the_persons_own_is_asked_about(whose: bool | None) -> None:
    theirs = Touched((replace(MINE, mine=whose),), others=True, gains=False)
    assert (judged("move_item", replace(CALM, touched=theirs)).verdict) == "ask"
    assert judged("move_item", replace(CALM, touched=theirs)).code == "not_mine"


def test_moving_what_cant_be_looked_at_is_asked_about() -> None:
    assert judged("move_item", replace(CALM, touched=None)).code == "unclear"


def test_an_unattended_run_that_has_read_foreign_content_changes_nothing_by_itself() -> None:
    unattended = replace(CALM, mode="unattended")
    assert judged("create_file", unattended).verdict == "allow"
    judgement = judged("create_file", replace(unattended, tainted=True))
    assert (judgement.verdict, judgement.code) == ("ask", "unattended")


@pytest.mark.parametrize("tool", ASKED)
@pytest.mark.parametrize("situation", [CALM, TAINTED])
def test_an_unattended_run_never_lets_pass_what_asks_when_somebody_watches(tool: str, situation: Situation) -> None:
    assert judged(tool, replace(situation, mode="unattended")).verdict == "ask"


def test_every_reason_has_its_sentence() -> None:
    assert {code.removeprefix("reasons.") for code in TEXTS.codes if code.startswith("reasons.")} == {*get_args(Code)}


def test_every_tool_of_a_specialist_has_a_rule_and_none_may_sign_in() -> None:
    for tools in ALLOWED_TOOLS.values():
        assert tools <= TOOLS.keys()
        assert "authenticate" not in tools


def test_the_specialists_can_do_what_is_theirs_and_no_more() -> None:
    drive, document = ALLOWED_TOOLS["drive_agent"], ALLOWED_TOOLS["document_agent"]
    assert all("list_folder" in tools for tools in ALLOWED_TOOLS.values())
    assert not drive & {"write_file", "patch_file", "restore_version"}
    assert not document & {"create_file", "create_folder", "move_item", "trash_item", "share_item", "rename_item"}
    rules = [TOOLS[tool].rule for tool in ALLOWED_TOOLS["search_agent"]]
    assert all(rule and rule.risk == "read" for rule in rules)


def test_a_nested_replace_is_no_replace() -> None:
    move = facts_of("move_item")
    assert move.rule_for({"options": {"on_conflict": "replace"}}) == move.rule


OUTSIDE = ToolFacts("mcp__s__t", read_only=True, server=OutsideServer("s1", "s", "t", "T", auto_approved=True))


@pytest.mark.parametrize(
    ("situation", "verdict", "code"),
    [
        (CALM, "allow", "outside_allowed"),
        (replace(CALM, leaves=True), "ask", "outside_leaves"),
        (TAINTED, "ask", "outside_tainted"),
        (replace(TAINTED, leaves=True), "ask", "outside_tainted"),
        (replace(CALM, contract=EVERYTHING), "allow", "outside_allowed"),
    ],
)
def test_a_tool_of_the_persons_own_server_runs_only_if_they_let_it_and_nothing_leaves(
    situation: Situation, verdict: Verdict, code: str
) -> None:
    found = judged(OUTSIDE, situation)
    assert (found.verdict, found.code, found.risk, found.has_rule) == (verdict, code, "delete", False)


@pytest.mark.parametrize("covered", [{}, GRANTED, {"contract": EVERYTHING}])
def test_no_hint_grant_or_contract_lets_a_tool_of_an_outside_server_run(covered: dict[str, Any]) -> None:
    asked = ToolFacts("mcp__s__t", read_only=True, destructive=False, server=OutsideServer("s1", "s", "t", "T"))
    assert judged(asked, replace(CALM, **covered)).verdict == "ask"
