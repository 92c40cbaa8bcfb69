"""The view that models get of long threads: it can be shown again exactly, and long results live outside the state."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.store.sqlite.aio import AsyncSqliteStore

from graph.memory.view import rebuild_view, room_in, view_record_of
from graph.messages.compact_results import compact_result
from graph.messages.stored_results import ResultCache, ResultStore, delete_results
from graph.messages.window import stored_result_of
from graph.prompts import load_prompt
from graph.settings import AgentSettings
from tests.fakes.chat_model import ScriptedChatModel, prompt_of, tool_call
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import WHO, Assistant
from tests.graph.conftest import Build

LONG = "The contract ends in March. 合同三月到期。" * 400


def as_sent(messages: list[Any]) -> list[Any]:
    """Return what of messages goes to a model."""
    return [
        (m.type, m.id, m.content, getattr(m, "tool_calls", None), getattr(m, "tool_call_id", None)) for m in messages
    ]


def shelf_of(store: AsyncSqliteStore, assistant: Assistant) -> ResultStore:
    return ResultStore(store, ResultCache(), WHO.user_id, assistant.thread_id)


async def views(store: AsyncSqliteStore, assistant: Assistant) -> list[list[Any]]:
    """Return what was sent to the model for each of its answers, from what was noted alone."""
    messages = (await assistant.graph.aget_state(assistant.config)).values["messages"]
    noted = [recorded for message in messages if (recorded := view_record_of(message))]
    return [as_sent(await rebuild_view(messages, recorded, shelf_of(store, assistant))) for recorded in noted]


def system_without_id(seen: list[Any]) -> list[Any]:
    return [(*seen[0][:1], *seen[0][2:]), *seen[1:]]


async def talk(assistant: Assistant, model: ScriptedChatModel, turns: int) -> None:
    for number in range(turns):
        model.script = [
            tool_call("read_file", f"r{number}", file_id="a"),
            tool_call("search_files", f"s{number}", query="nothing"),
            f"It ends in March, as I said {number} times.",
        ]
        await assistant.say(f"Search my files for the contract, please ({number})")


async def test_what_a_model_saw_can_be_shown_again_to_the_letter(
    build_with_store: Build, model: ScriptedChatModel, drive: TinyDrive, store: AsyncSqliteStore
) -> None:
    drive.texts["a"] = LONG[:4_000]
    assistant = build_with_store(window_tokens=4_500)
    await talk(assistant, model, 20)
    shown = await views(store, assistant)
    sent = [as_sent(request) for request in model.requests]
    assert len(shown) == len(sent) == 60
    assert [system_without_id(one) for one in shown] == [system_without_id(one) for one in sent]
    assert any("<summary>" in str(one) for one in sent)
    results = [len(message[2]) for one in sent[-3:] for message in one if message[0] == "tool"]
    assert min(results) < 1_500 < 4_000 < max(results)


async def test_what_is_noted_is_small(
    build_with_store: Build, model: ScriptedChatModel, drive: TinyDrive, store: AsyncSqliteStore
) -> None:
    drive.texts["a"] = LONG
    assistant = build_with_store()
    await talk(assistant, model, 6)
    messages = (await assistant.graph.aget_state(assistant.config)).values["messages"]
    assert max(len(str(view_record_of(message) or "")) for message in messages) < 1_500
    kept = await store.asearch(("threads",), limit=100)
    assert len(kept) < 6 + 6


async def test_long_results_are_outside_the_state_and_seen_whole_by_the_model(
    build_with_store: Build, model: ScriptedChatModel, drive: TinyDrive, store: AsyncSqliteStore
) -> None:
    drive.texts["a"] = LONG
    assistant = build_with_store()
    model.script = [tool_call("read_file", "r1", file_id="a"), "ok"]
    seen = await assistant.say("search my files for the contract")
    (result,) = [message for message in seen.state["messages"] if message.type == "tool"]
    assert len(result.text) < 1_500
    assert '"in_full":{"reference":"r1"' in result.text
    assert '"id":"a"' in result.text
    kept = stored_result_of(result)
    assert kept is not None
    assert kept["reference"] == "r1"
    assert LONG[:5_000] in model.requests[-1][-1].text
    whole = await shelf_of(store, assistant).get("r1") or ""
    assert compact_result(whole) == model.requests[-1][-1].text
    assert seen.of("tool_call_end")[0]["result"] == whole


async def test_short_results_stay_where_they_are(
    build_with_store: Build, model: ScriptedChatModel, store: AsyncSqliteStore
) -> None:
    assistant = build_with_store()
    model.script = [tool_call("read_file", "r1", file_id="a"), "ok"]
    seen = await assistant.say("search my files for the contract")
    assert '"text":"30 days"' in seen.results["r1"]
    assert await shelf_of(store, assistant).get("r1") is None


async def test_what_is_too_long_even_for_a_model_is_kept_whole(
    build_with_store: Build, model: ScriptedChatModel, drive: TinyDrive, store: AsyncSqliteStore
) -> None:
    drive.texts["a"] = "x" * 70_000
    assistant = build_with_store(max_result_characters=20_000)
    model.script = [tool_call("read_file", "r1", file_id="a"), "ok"]
    await assistant.say("search my files for the contract")
    assert len(model.requests[-1][-1].text) < 21_000
    assert "x" * 70_000 in (await shelf_of(store, assistant).get("r1:whole") or "")


async def test_an_hour_later_in_another_process_the_same_is_seen(
    build_with_store: Build, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    drive.texts["a"] = LONG
    first = build_with_store()
    model.script = [tool_call("read_file", "r1", file_id="a"), "ok", "ok"]
    await first.say("search my files for the contract")
    second = build_with_store()
    second.thread_id = first.thread_id
    await second.say("and what does it say about March?")
    assert LONG[:5_000] in "".join(message.text for message in model.requests[-1])


async def test_a_model_with_little_room_gets_little(
    build_with_store: Build, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    drive.texts["a"] = LONG
    assistant = build_with_store(context_tokens=8_000)
    await talk(assistant, model, 6)
    assert max(sum(len(message.text) for message in request) for request in model.requests) < 24_000
    assert all(request[-1].type != "system" for request in model.requests)


def test_the_window_is_what_the_settings_allow_and_the_model_can_take() -> None:
    def window(model: str, **settings: Any) -> int:
        return room_in(AgentSettings(model="gpt-4", **settings), model).for_messages()

    assert window("gpt-4.1") == AgentSettings().window_tokens
    assert window("gpt-4") < 8_192
    assert window("gpt-4", context_tokens=100_000) == AgentSettings().window_tokens
    assert window("mistral", context_tokens=8_000) == 32_768 - 8_192


async def test_reports_of_the_model_make_the_window_fit(build_with_store: Build, model: ScriptedChatModel) -> None:
    def twice_as_many(messages: Any) -> AIMessage:
        said: list[BaseMessage] = list(messages)
        tokens = sum(len(message.text) for message in said)
        usage = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
        return AIMessage("ok", usage_metadata=usage)  # pyright: ignore[reportArgumentType] - the dict is that type

    assistant = build_with_store()
    model.script = [twice_as_many, twice_as_many]
    await assistant.say("search my files for the contract")
    seen = await assistant.say("search my files for the contract")
    assert seen.state["token_scale"] > 1.2


async def test_the_model_may_write_the_summaries(build_with_store: Build, model: ScriptedChatModel) -> None:
    assistant = build_with_store(window_tokens=500, summaries="model")
    usage = {"input_tokens": 300, "output_tokens": 20, "total_tokens": 320}
    summary = AIMessage("They like short answers. 他们喜欢简短的回答。", usage_metadata=usage)  # pyright: ignore[reportArgumentType] - a plain dict
    model.script = ["Long. " * 500, summary, "ok"]
    await assistant.say("list my files")
    seen = await assistant.say("list my files")
    assert seen.state["turn"]["usage"]["total_tokens"] == 320
    assert [one["text"] for one in seen.state["summaries"]] == ["They like short answers. 他们喜欢简短的回答。"]


@pytest.mark.parametrize(
    ("settings", "by_model"),
    [
        ({"model": "gpt-4.1"}, True),
        ({"model": "gpt-4.1", "summaries": "extractive"}, False),
        ({"model": "offline"}, False),
        ({"model": "offline", "summary_model": "gpt-4.1-nano"}, True),
        ({"model": "gpt-4.1", "router_model": "offline"}, False),
    ],
)
async def test_a_real_model_writes_the_summaries_and_rules_do_it_for_the_offline_one(
    build_with_store: Build, model: ScriptedChatModel, settings: dict[str, str], *, by_model: bool
) -> None:
    assistant = build_with_store(window_tokens=500, **settings)
    model.script = ["Long. " * 500, *(["They want short answers."] if by_model else []), "ok"]
    first = await assistant.say("list my files")
    seen = await assistant.say("list my files")
    (summary,) = seen.state["summaries"]
    assert summary["text"].startswith("They want" if by_model else "Person: list my files")
    assert [summary["first"], summary["last"]] == [message.id for message in first.state["messages"]]
    assert f"messages {summary['first']} to {summary['last']}]" in prompt_of(model.requests[-1])


async def test_without_the_model_the_extract_stands(build_with_store: Build, model: ScriptedChatModel) -> None:
    assistant = build_with_store(window_tokens=500, summaries="model")
    model.script = ["Fine. " * 500, TimeoutError("no answer"), "ok"]
    await assistant.say("list my files")
    seen = await assistant.say("list my files")
    assert "Assistant: Fine. Fine." in seen.state["summaries"][0]["text"]


async def test_a_thread_gets_at_nothing_of_another(
    build_with_store: Build, model: ScriptedChatModel, drive: TinyDrive, store: AsyncSqliteStore
) -> None:
    drive.texts["a"] = LONG
    assistant, memory = build_with_store(), ResultCache()
    model.script = [tool_call("read_file", "r1", file_id="a"), "ok"]
    await assistant.say("search my files for the contract")
    assert await ResultStore(store, memory, WHO.user_id, assistant.thread_id).get("r1")
    assert await ResultStore(store, memory, WHO.user_id, "another").get("r1") is None
    assert await ResultStore(store, memory, "somebody", assistant.thread_id).get("r1") is None
    assert await delete_results(store, memory, WHO.user_id, assistant.thread_id) > 0
    assert await ResultStore(store, memory, WHO.user_id, assistant.thread_id).get("r1") is None
    assert await store.asearch(("threads",)) == []


async def test_prompts_are_kept_once_for_all_threads_and_nothing_else_is(
    build_with_store: Build, model: ScriptedChatModel, drive: TinyDrive, store: AsyncSqliteStore
) -> None:
    drive.texts["a"] = LONG[:4_000]
    first, second = build_with_store(), build_with_store()
    await talk(first, model, 2)
    await talk(second, model, 2)
    assert await delete_results(store, ResultCache(), WHO.user_id, first.thread_id) > 0

    kept = [item.key for item in await store.asearch(("prompts",))]
    results = ResultStore(store, ResultCache(), WHO.user_id, second.thread_id)
    prompts = {load_prompt("agents/specialist"), load_prompt("agents/search_agent")}
    assert {*(await results.prompts(kept)).values()} == prompts
    sent = [as_sent(request) for request in model.requests[-6:]]
    assert [system_without_id(seen) for seen in await views(store, second)] == [system_without_id(one) for one in sent]


async def test_facts_are_looked_for_once_in_a_turn_unless_it_changes_them(
    build_with_store: Build, model: ScriptedChatModel, store: AsyncSqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[Any] = []
    search = store.asearch

    async def counting(namespace: tuple[str, ...], **options: Any) -> Any:
        searched.append(namespace)
        return await search(namespace, **options)

    monkeypatch.setattr(store, "asearch", counting)
    assistant = build_with_store()
    model.script = [tool_call("search_files", f"s-{word}", query=word) for word in ("contract", "合同")]
    model.script += [tool_call("remember", "m1", fact="I like tea"), "ok"]
    await assistant.say("search my files for the contract and remember that I like tea")

    systems = [prompt_of(request) for request in model.requests]
    assert ["I like tea" in text for text in systems] == [False, False, False, True]
    looked = [namespace for namespace in searched if namespace[0] == "memories"]
    assert len(looked) == 3  # for the first model, to keep it, and for the model after that
