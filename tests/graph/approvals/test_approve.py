"""Answers to an approval in every dialect, and texts that never are one."""

from dataclasses import replace
from typing import Any

import pytest
from langgraph.types import Command

from tests.fakes.chat_model import ScriptedChatModel, tool_call, tool_calls
from tests.fakes.clock import SettableClock
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import WHO, Assistant, approve
from tests.graph.conftest import Build

SHARE = {"item_id": "a", "email": "bob@example.com", "role": "viewer"}
EDITED = {**SHARE, "role": "editor"}


@pytest.fixture
async def asked(assistant: Assistant, model: ScriptedChatModel) -> Assistant:
    """An assistant that waits for an answer about one share."""
    model.script = [tool_call("share_item", "s1", **SHARE), "done"]
    await assistant.say("share a with bob@example.com")
    return assistant


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [{"tool_call_id": "s1", "type": "approve"}]},
        {"decisions": [{"type": "approve"}]},
        [{"type": "accept", "args": None}],
        {"type": "accept"},
        {"type": "approve"},
    ],
)
async def test_an_approval_in_any_dialect_runs_the_call(asked: Assistant, drive: TinyDrive, answer: Any) -> None:
    await asked.answer(answer)
    assert [call.args for call in drive.called("share_item", dry=False)] == [SHARE]


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [{"tool_call_id": "s1", "type": "edit", "args": EDITED}]},
        {"decisions": [{"type": "edit", "edited_action": {"name": "share_item", "args": EDITED}}]},
        [{"type": "edit", "args": {"action": "share_item", "args": EDITED}}],
        {"type": "edit", "args": EDITED},
    ],
)
async def test_an_edit_in_any_dialect_runs_with_the_persons_arguments(
    asked: Assistant, drive: TinyDrive, answer: Any
) -> None:
    seen = await asked.answer(answer)
    assert [call.args for call in drive.called("share_item", dry=False)] == [EDITED]
    assert seen.ends == [("share_item", "done")]


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [{"tool_call_id": "s1", "type": "reject"}]},
        [{"type": "ignore"}],
        {"decisions": [{"tool_call_id": "s1", "type": "respond", "message": "who is bob?"}]},
        [{"type": "response", "args": "who is bob?"}],
        "approve",
        "yes",
        True,
        [],
        {"decisions": []},
        {"decisions": "approve"},
        {"decisions": ["approve"]},
        {"decisions": [{"tool_call_id": "other", "type": "approve"}]},
        {"decisions": [{"tool_call_id": "s1", "type": "approve"}, {"tool_call_id": "s1", "type": "reject"}]},
        {"decisions": [{"type": "approve"}, {"type": "approve"}]},
        {"decisions": [{"type": "APPROVE!"}]},
        {"decisions": [{"type": ["approve"]}]},
        {"decisions": [{"tool_call_id": "s1", "type": "edit"}]},
        {"decisions": [{"tool_call_id": "s1", "type": "edit", "args": "role=editor"}]},
        {"decisions": [{"tool_call_id": "s1", "type": "edit", "args": {**SHARE, "role": "owner"}}]},
        {"decisions": [{"tool_call_id": "s1", "type": "edit", "args": {**SHARE, "as_user": "root"}}]},
        {"decisions": [{"tool_call_id": "s1", "type": "edit", "args": {"item_id": "a"}}]},
        {"decisions": [{"type": "edit", "edited_action": {"name": "trash_item", "args": {"item_id": "a"}}}]},
        [{"type": "edit", "args": {"action": "trash_item", "args": {"item_id": "a"}}}],
    ],
)
async def test_anything_else_runs_nothing_and_the_turn_goes_on(asked: Assistant, drive: TinyDrive, answer: Any) -> None:
    seen = await asked.answer(answer)
    assert drive.done == []
    assert seen.ends == [("share_item", "rejected")]
    assert seen.asked is None
    assert seen.text.strip() == "done"


async def test_the_persons_words_reach_the_model(asked: Assistant) -> None:
    seen = await asked.answer({"decisions": [{"tool_call_id": "s1", "type": "respond", "message": "谁是 Bob?"}]})
    assert "谁是 Bob?" in seen.results["s1"]


async def test_an_edit_that_names_another_item_is_shown_again_before_it_runs(
    asked: Assistant, drive: TinyDrive
) -> None:
    other = {**SHARE, "item_id": "b"}
    seen = await asked.answer({"decisions": [{"tool_call_id": "s1", "type": "edit", "args": other}]})
    assert drive.done == []
    assert seen.asked is not None
    assert "/b" in seen.asked["actions"][0]["preview"]
    await asked.answer(approve("s1"))
    assert [call.args["item_id"] for call in drive.called("share_item", dry=False)][-1] == "b"
    assert len(drive.done) == 1


async def test_strings_from_a_plain_form_become_what_the_tool_wants(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [tool_call("undo_changes", "u1", run_id="r"), "ok"]
    await assistant.say("undo that")
    await assistant.answer(
        {"decisions": [{"tool_call_id": "u1", "type": "edit", "args": {"run_id": "r", "preview": "true"}}]}
    )
    assert drive.called("undo_changes", dry=False)[0].args["preview"] is True


async def test_decisions_in_order_go_to_their_calls(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    both = tool_calls(tool_call("trash_item", "1", item_id="a"), tool_call("trash_item", "2", item_id="b"))
    model.script = [both, "ok"]
    await assistant.say("delete a and b")
    seen = await assistant.answer({"decisions": [{"type": "reject"}, {"type": "approve"}]})
    assert [call.args["item_id"] for call in drive.called("trash_item", dry=False)] == ["b"]
    ends = {event["tool_call_id"]: event["status"] for event in seen.of("tool_call_end")}
    assert ends == {"1": "rejected", "2": "done"}


async def test_one_approval_for_several_calls_is_none_but_one_rejection_is_all(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    both = tool_calls(tool_call("trash_item", "1", item_id="a"), tool_call("trash_item", "2", item_id="b"))
    for answer in ({"type": "approve"}, {"type": "reject", "message": "no"}):
        model.script = [both, "ok"]
        await assistant.say("delete a and b")
        seen = await assistant.answer(answer)
        assert [status for _, status in seen.ends] == ["rejected", "rejected"]
    assert drive.done == []


async def test_who_decided_is_recorded_with_the_change(asked: Assistant, drive: TinyDrive) -> None:
    await asked.answer({**approve("s1"), "decided_by": "boss@example.com"})
    assert drive.called("share_item", dry=False)[0].meta["drive-agent/approved-by"] == "boss@example.com"
    assert WHO.email != "boss@example.com"


async def test_arguments_changed_behind_the_approval_do_not_run(asked: Assistant, drive: TinyDrive) -> None:
    snapshot = await asked.graph.aget_state(asked.config)
    calls = [{**call, "args": EDITED} for call in snapshot.values["calls"]]
    await asked.graph.aupdate_state(asked.config, {"calls": calls}, as_node="drive_agent")
    seen = await asked.run(None)
    assert seen.asked is not None
    await asked.answer(approve("s1"))
    assert drive.called("share_item", dry=False) == []


async def test_an_answer_that_was_given_in_time_counts_even_if_it_arrives_after_a_crash(
    asked: Assistant, drive: TinyDrive, clock: SettableClock
) -> None:
    given = clock.now.isoformat()
    clock.advance(10_000)
    await asked.answer({**approve("s1"), "decided_at": given})
    assert [name for name, _ in drive.done] == ["share_item"]


@pytest.mark.parametrize("at", ["yesterday", "2026-11-21T09:00:00", 5, None, "9999-01-01T00:00:00+00:00"])
async def test_a_time_that_proves_nothing_does_not_lengthen_an_approval(
    asked: Assistant, drive: TinyDrive, clock: SettableClock, at: Any
) -> None:
    clock.advance(10_000)
    await asked.answer({**approve("s1"), "decided_at": at})
    assert drive.done == []


async def test_an_edit_that_reaches_further_is_run_dry_and_shown_first(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [tool_call("undo_changes", "u1", run_id="r"), "ok"]
    await assistant.say("undo that")
    edited = {"run_id": "another"}
    seen = await assistant.answer({"decisions": [{"tool_call_id": "u1", "type": "edit", "args": edited}]})
    assert drive.done == []
    assert seen.asked is not None
    (action,) = seen.asked["actions"]
    assert action["args"] == edited
    assert "look again" in action["reason"]
    assert drive.called("undo_changes", dry=True)[-1].args == edited
    seen = await assistant.answer(approve("u1"))
    assert [call.args for call in drive.called("undo_changes", dry=False)] == [edited]
    assert seen.ends == [("undo_changes", "done")]


async def test_an_edit_that_can_not_be_done_fails_with_the_drives_words(asked: Assistant, drive: TinyDrive) -> None:
    edited = {**SHARE, "item_id": "nowhere"}
    seen = await asked.answer({"decisions": [{"tool_call_id": "s1", "type": "edit", "args": edited}]})
    assert drive.done == []
    assert seen.ends == [("share_item", "error")]
    assert "nowhere" in seen.results["s1"]


async def test_an_edit_of_what_has_changed_since_is_shown_again(asked: Assistant, drive: TinyDrive) -> None:
    drive.touch("a")
    seen = await asked.answer({"decisions": [{"tool_call_id": "s1", "type": "edit", "args": EDITED}]})
    assert drive.done == []
    assert seen.asked is not None
    await asked.answer(approve("s1"))
    assert [call.args for call in drive.called("share_item", dry=False)][-1] == EDITED
    assert len(drive.done) == 1


async def test_what_is_approved_beside_such_an_edit_waits_with_it_and_runs_once(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    both = tool_calls(tool_call("trash_item", "1", item_id="a"), tool_call("undo_changes", "2", run_id="r"))
    model.script = [both, "ok"]
    await assistant.say("delete a")
    edit = {"tool_call_id": "2", "type": "edit", "args": {"run_id": "another"}}
    seen = await assistant.answer({"decisions": [{"tool_call_id": "1", "type": "approve"}, edit]})
    assert seen.asked is not None
    assert [action["tool_call_id"] for action in seen.asked["actions"]] == ["2"]
    seen = await assistant.answer({"decisions": [{"tool_call_id": "2", "type": "reject"}]})
    assert [name for name, _ in drive.done] == ["trash_item"]
    assert {event["tool_call_id"]: event["status"] for event in seen.of("tool_call_end")} == {
        "1": "done",
        "2": "rejected",
    }


async def test_the_card_says_in_data_what_a_preview_says_in_words(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [tool_call("trash_item", "t1", item_id="a"), "ok"]
    seen = await assistant.say("delete a")
    assert seen.asked is not None
    (action,) = seen.asked["actions"]
    assert action["effect"]["count"] == 1
    assert [item["path"] for item in action["effect"]["items"]] == ["/a"]
    assert action["effect"]["reversible"] is True
    assert action["grant_kind"] == "trash"


async def test_an_expired_approval_is_an_event_of_its_own_before_the_one_that_resolves_it(
    asked: Assistant, drive: TinyDrive, clock: SettableClock
) -> None:
    clock.advance(300)
    seen = await asked.answer(approve("s1"))
    (expired,) = seen.of("approval_expired")
    (resolved,) = seen.of("approval_resolved")
    assert expired["approval_id"] == resolved["approval_id"]
    assert expired["tool_call_ids"] == ["s1"]
    assert resolved["status"] == "expired"
    assert seen.events.index(expired) < seen.events.index(resolved)
    assert drive.done == []


async def test_in_time_nothing_is_said_to_be_expired(asked: Assistant) -> None:
    assert (await asked.answer(approve("s1"))).of("approval_expired") == []


async def test_all_are_approved_with_one_word(assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive) -> None:
    both = tool_calls(tool_call("trash_item", "1", item_id="a"), tool_call("trash_item", "2", item_id="b"))
    model.script = [both, "ok"]
    await assistant.say("delete a and b")
    await assistant.answer({"approve_all": True})
    assert [name for name, _ in drive.done] == ["trash_item", "trash_item"]


async def test_going_to_the_end_does_nothing_and_the_thread_goes_on(
    asked: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    await asked.run(Command(goto="__end__"))
    model.script = ["hello again"]
    seen = await asked.say("hello")
    assert drive.done == []
    assert "Not executed" in seen.results["s1"]
    assert seen.asked is None


async def test_an_unattended_approval_waits_for_days(
    build: Build, model: ScriptedChatModel, drive: TinyDrive, clock: SettableClock
) -> None:
    assistant = build(unattended_approval_ttl_seconds=7 * 86_400)
    assistant.who = replace(WHO, mode="unattended")
    model.script = [tool_call("share_item", "s1", **SHARE), "done"]
    await assistant.say("share a with bob@example.com")
    clock.advance(6 * 86_400)
    seen = await assistant.answer(approve("s1"))
    assert seen.ends == [("share_item", "done")]
    assert [name for name, _ in drive.done] == ["share_item"]
