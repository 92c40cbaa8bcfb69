"""The size of a thread on disk; all of it can be read back."""

from pathlib import Path

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, approve

TURNS = 12


async def bytes_in(saver: AsyncSqliteSaver, tmp_path: Path) -> int:
    await saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (tmp_path / "checkpoints.db").stat().st_size


async def test_a_thread_grows_with_what_is_said_and_not_with_its_square(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive, saver: AsyncSqliteSaver, tmp_path: Path
) -> None:
    drive.texts["a"] = "x" * 10_000
    sizes = [0]
    for half in range(2):
        for number in range(TURNS):
            model.script = [tool_call("read_file", f"r{half}-{number}", file_id="a"), "ok"]
            await assistant.say("find it")
        sizes.append(await bytes_in(saver, tmp_path))
    first, second = sizes[1] - sizes[0], sizes[2] - sizes[1]
    assert second < 1.5 * first


async def test_another_process_reads_the_whole_thread_and_goes_on_with_its_approval(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive, tmp_path: Path
) -> None:
    model.script = [tool_call("read_file", "r", file_id="a"), "ok", tool_call("trash_item", "t", item_id="a"), "Gone."]
    await assistant.say("find it")
    await assistant.say("delete a")
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as other:
        assistant.graph.checkpointer = other
        snapshot = await assistant.graph.aget_state(assistant.config)
        kinds = [message.type for message in snapshot.values["messages"]]
        assert kinds == ["human", "ai", "tool", "ai", "human", "ai"]
        seen = await assistant.answer(approve("t"))
        assert [name for name, _ in drive.done] == ["trash_item"]
        assert seen.text.strip() == "Gone."
        history = [
            len(past.values.get("messages", [])) async for past in assistant.graph.aget_state_history(assistant.config)
        ]
        assert history == sorted(history, reverse=True)
        assert history[0] == 8
