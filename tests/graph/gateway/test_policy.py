import pytest

from graph.gateway.policy import REASONS, RULES, Hints, judge
from graph.nodes.review import ALLOWED_TOOLS

NO_HINTS = Hints()


@pytest.mark.parametrize(
    "tool",
    [
        "list_folder",
        "read_file",
        "semantic_search_files",
        "whoami",
        "list_shares",
        "list_shared_with_me",
        "diff_versions",
    ],
)
def test_reading_is_allowed_even_when_tainted(tool: str) -> None:
    assert judge(tool, {}, NO_HINTS, tainted=True, language="en").verdict == "allow"


@pytest.mark.parametrize(
    "tool",
    ["create_folder", "create_file", "restore_item", "rename_item", "move_item", "move_items", "copy_item"],
)
@pytest.mark.parametrize("on_conflict", ["fail", "rename", None])
def test_harmless_changes_are_allowed(tool: str, on_conflict: str | None) -> None:
    args = {"on_conflict": on_conflict} if on_conflict else {}
    assert judge(tool, args, NO_HINTS, tainted=False, language="en").verdict == "allow"


@pytest.mark.parametrize("tool", ["restore_item", "rename_item", "move_item", "move_items", "copy_item"])
def test_what_takes_the_place_of_something_else_is_asked_about_as_it_goes_to_the_trash(tool: str) -> None:
    judgement = judge(tool, {"on_conflict": "replace"}, NO_HINTS, tainted=False, language="en")
    assert (judgement.verdict, judgement.risk, judgement.reason) == ("ask", "delete", REASONS["delete"]["en"])


def test_what_replaces_the_content_of_a_file_that_is_there_is_asked_about_like_any_writing() -> None:
    judgement = judge("create_file", {"on_conflict": "replace"}, NO_HINTS, tainted=False, language="en")
    assert (judgement.verdict, judgement.risk, judgement.reason) == ("ask", "write", REASONS["write"]["en"])


@pytest.mark.parametrize("tool", ["rename_item", "move_item", "move_items", "copy_item"])
def test_what_moves_things_asks_once_content_was_read(tool: str) -> None:
    judgement = judge(tool, {}, NO_HINTS, tainted=True, language="en")
    assert judgement.verdict == "ask"
    assert judgement.reason == REASONS["tainted"]["en"]


@pytest.mark.parametrize(
    ("tool", "risk"),
    [
        ("write_file", "write"),
        ("patch_file", "write"),
        ("restore_version", "write"),
        ("undo_changes", "write"),
        ("redo_changes", "write"),
        ("delete_item", "delete"),
        ("empty_trash", "delete"),
        ("trash_item", "delete"),
        ("append_to_file", "write"),
        ("share_item", "share"),
        ("create_share_link", "share"),
        ("get_download_url", "share"),
        ("update_share", "share"),
        ("revoke_share", "share"),
    ],
)
def test_what_matters_is_asked_about(tool: str, risk: str) -> None:
    judgement = judge(tool, {}, NO_HINTS, tainted=False, language="zh")
    assert (judgement.verdict, judgement.risk, judgement.known) == ("ask", risk, True)


@pytest.mark.parametrize("tool", ["delete_item", "empty_trash"])
def test_the_reason_for_asking_about_deletion_for_good_says_that_it_is_final(tool: str) -> None:
    judgement = judge(tool, {}, NO_HINTS, tainted=True, language="en")
    assert judgement.reason == "This deletes for good and can't be taken back."
    assert judge(tool, {}, NO_HINTS, tainted=False, language="zh").reason == REASONS["final"]["zh"]


@pytest.mark.parametrize("tool", ["undo_changes", "redo_changes"])
def test_previewing_an_undo_or_a_redo_changes_nothing_and_asks_nobody(tool: str) -> None:
    assert judge(tool, {"preview": True}, NO_HINTS, tainted=False, language="en").verdict == "allow"
    assert judge(tool, {"preview": "true"}, NO_HINTS, tainted=False, language="en").verdict == "ask"


def test_signing_in_is_never_the_assistants_business() -> None:
    assert judge("authenticate", {}, NO_HINTS, tainted=False, language="en").verdict == "deny"


@pytest.mark.parametrize(
    ("hints", "risk"),
    [
        (NO_HINTS, "delete"),
        (Hints(read_only=True), "read"),
        (Hints(read_only=False, destructive=False), "write"),
        (Hints(read_only=False, destructive=True), "delete"),
        (Hints(read_only=False), "delete"),
    ],
)
def test_an_unknown_tool_always_asks_and_without_hints_counts_as_delete(hints: Hints, risk: str) -> None:
    judgement = judge("format_disk", {}, hints, tainted=False, language="en")
    assert (judgement.verdict, judgement.risk, judgement.known) == ("ask", risk, False)


def test_every_reason_exists_in_both_languages() -> None:
    assert all(set(texts) == {"en", "zh"} for texts in REASONS.values())


def test_every_tool_of_a_specialist_has_a_rule_and_none_may_sign_in() -> None:
    for tools in ALLOWED_TOOLS.values():
        assert tools <= RULES.keys()
        assert "authenticate" not in tools


def test_the_specialists_can_do_what_is_theirs_and_no_more() -> None:
    drive, document = ALLOWED_TOOLS["drive_agent"], ALLOWED_TOOLS["document_agent"]
    assert not drive & {"write_file", "patch_file", "restore_version"}
    assert not document & {"create_file", "create_folder", "move_item", "trash_item", "share_item", "rename_item"}
    assert all(RULES[tool].risk == "read" for tool in ALLOWED_TOOLS["search_agent"])
