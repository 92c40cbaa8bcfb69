"""Other people's words are withheld from a thread once their file is not shared any more, however they came there."""

from collections.abc import AsyncGenerator, Callable

import pytest

from drive_server.connect import ALL_SCOPES, Actor, Drive
from graph.drive.connections import ConnectionPool, drive_sessions
from tests.fakes.chat_model import ScriptedChatModel, plan_of, tool_call
from tests.fakes.clock import SettableClock
from tests.graph.assistant import Assistant, person

SECRET = "The code of the safe is Zephyr-77."


@pytest.fixture
async def pool(real_drive: Drive, clock: SettableClock) -> AsyncGenerator[ConnectionPool]:
    pool = ConnectionPool(drive_sessions(real_drive), call_seconds=20, clock=clock)
    yield pool
    await pool.aclose()


@pytest.fixture
def assistant(build_with_store: Callable[[], Assistant], actor: Actor) -> Assistant:
    made = build_with_store()
    made.who = person(actor)
    return made


@pytest.fixture
async def bob(real_drive: Drive) -> Actor:
    admin = Actor(await real_drive.identity.authenticate((await real_drive.identity.ensure_local_user())[1]))
    made, _ = await real_drive.identity.create_user(admin, "bob@example.com")
    return Actor(await real_drive.identity.principal_for(made.id, ALL_SCOPES))


async def shared(drive: Drive, owner: Actor, reader: Actor) -> str:
    """Return the id of a file of the owner that the reader may edit."""
    key = (await drive.documents.create(owner, "root", "safe.md", SECRET)).value.id
    await drive.sharing.share(owner, key, reader.principal.email, "editor")
    return key


async def sent_after_revoke(
    drive: Drive, owner: Actor, key: str, assistant: Assistant, model: ScriptedChatModel, said: str
) -> str:
    """Return all that the model is sent, and the person sees, in a turn after the share has ended."""
    await drive.sharing.revoke(owner, key, assistant.who.email)
    before = len(model.requests)
    seen = await assistant.say(said)
    return "\n".join([seen.text, *(message.text for request in model.requests[before:] for message in request)])


async def test_the_near_matches_of_an_edit_that_failed_are_withheld_with_what_was_said_of_them(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, bob: Actor
) -> None:
    key = await shared(real_drive, bob, actor)
    edits = [{"find": "The code of the safe was", "replace": "x"}]
    model.script = [tool_call("patch_file", "p", file_id=key, edits=edits), "There it says Zephyr-77."]
    seen = await assistant.say("summarise this document", file_id=key)
    assert "Zephyr" in seen.results["p"]
    model.script = ["I can't see it."]
    assert "Zephyr" not in await sent_after_revoke(real_drive, bob, key, assistant, model, "list my files")


async def test_what_a_step_found_is_withheld_from_a_plan_that_goes_on(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, bob: Actor
) -> None:
    key = await shared(real_drive, bob, actor)
    plan = plan_of(("search_agent", "find the code"), ("drive_agent", "create a folder"), ("drive_agent", "rename it"))
    model.script = [plan, tool_call("read_file", "r", file_id=key), "It is Zephyr-77.", "Where?", "Nothing to rename."]
    await assistant.say("find the code, create a folder Safe and rename it")
    model.script = [tool_call("create_folder", "c", name="Safe"), "It is there."]
    assert "Zephyr" not in await sent_after_revoke(real_drive, bob, key, assistant, model, "the first one")


async def test_the_reason_of_a_handover_is_withheld_with_what_it_was_made_of(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, bob: Actor
) -> None:
    key = await shared(real_drive, bob, actor)
    over = tool_call("transfer_to_agent", "t", agent="drive_agent", reason="The code is Zephyr-77.")
    model.script = [tool_call("read_file", "r", file_id=key), over, "Done."]
    await assistant.say("summarise this document", file_id=key)
    model.script = ["I can't see it."]
    assert "Zephyr" not in await sent_after_revoke(real_drive, bob, key, assistant, model, "list my files")
