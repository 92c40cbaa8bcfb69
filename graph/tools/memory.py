"""`remember`, `forget` and `list_memories`: the person's long-term memory, as models get at it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.types import CallToolResult

from drive_server.kernel.texts import ORIGINAL, Texts
from graph.drive.tool_names import FILE_INFO
from graph.memory.facts import (
    FACT_CHARACTERS,
    MAX_FACTS,
    Fact,
    Facts,
    FactSource,
    TooManyFactsError,
    by_relevance,
    facts_section,
    one_line,
    visible_facts,
)
from graph.policy.matrix import Rule
from graph.policy.vouching import asks_to_forget_it, asks_to_remember_it
from graph.tools.local import LocalTool, Request, ToolContext, error_result, text_result

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

TEXTS: Final = Texts.beside(__file__)
MAX_LISTED: Final = 50

_REMEMBER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "fact": {
            "type": "string",
            "minLength": 1,
            "maxLength": FACT_CHARACTERS,
            "description": "One fact, in the person's own words, copied exactly.",
        },
        "file_id": {"type": "string", "description": "The file that the fact is from, if it is from one."},
    },
    "required": ["fact"],
    "additionalProperties": False,
}
_FORGET: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"memory_id": {"type": "string", "description": "The id from `<memories>` or `list_memories`."}},
    "required": ["memory_id"],
    "additionalProperties": False,
}
_LIST: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "What it should be about; empty: everything."}},
    "additionalProperties": False,
}


def _facts(request: Request) -> Facts:
    # The tools are only there with a store.
    return Facts(cast("BaseStore", request.context.store), request.context.user_id)


async def _remember(request: Request) -> CallToolResult:
    source = await _source(request)
    if source is None:
        return error_result("not_found", "There is no such file. Leave file_id out if the fact is from the person.")
    text = one_line(str(request.args["fact"]))
    try:
        fact = await _facts(request).keep(text, source, request.context.clock(), request.key)
    except TooManyFactsError:
        return error_result("too_many", f"There are {MAX_FACTS} facts already. Ask the person which ones to forget.")
    return text_result(f"Remembered: {fact['text']}", {"memory": _view(fact)})


async def _source(request: Request) -> FactSource | None:
    """Return the source of the fact; None for a file that the person can't see."""
    file_id, where = request.args.get("file_id"), request.context
    if not file_id:
        return {"kind": "said", "thread_id": where.thread_id, "message_id": request.run_id}
    found = await where.toolbox.call(FILE_INFO, {"item_id": str(file_id)}, meta={})
    data: Mapping[str, Any] = found.structuredContent or {}
    if found.isError or "id" not in data:
        return None
    source: FactSource = {"kind": "file", "file_id": str(data["id"]), "name": str(data.get("name", ""))}
    if isinstance(data.get("version"), int):
        source["version"] = data["version"]
    return {**source, "thread_id": where.thread_id, "message_id": request.run_id}


async def _effect(request: Request) -> Mapping[str, Any]:
    return {**_summary("remember", one_line(str(request.args["fact"]))), "reversible": True}


def _summary(code: str, fact: str) -> Mapping[str, Any]:
    """Return the line about a change of the facts, in the shape of the drive's sentences."""
    texts = {language: TEXTS.say(f"memory.{code}", language, fact=fact) for language in TEXTS.languages}
    message = {"code": code, "params": {"fact": fact}, **texts}
    return {"summary": texts[ORIGINAL], "messages": {"summary": message}}


async def _forget(request: Request) -> CallToolResult:
    facts, fact_id = _facts(request), str(request.args["memory_id"])
    fact = await facts.get(fact_id)
    if fact is None or not await facts.forget(fact_id):
        return error_result("not_found", "There is no such memory. List them with list_memories.")
    return text_result(f"Forgotten: {fact['text']}", {"memory": _view(fact)})


async def _effect_of_forgetting(request: Request) -> Mapping[str, Any]:
    fact = await _facts(request).get(str(request.args["memory_id"]))
    text = fact["text"] if fact else "?"
    return {**_summary("forget", text), "about": fact["text"] if fact else "", "reversible": False}


async def _list(request: Request) -> CallToolResult:
    facts = await visible_facts(_facts(request), request.context.toolbox)
    query = str(request.args.get("query") or "")
    listed = by_relevance(facts, query)[:MAX_LISTED] if query else facts[:MAX_LISTED]
    return text_result(
        _sentence(listed, len(facts)), {"memories": [_view(fact) for fact in listed], "total": len(facts)}
    )


async def stored_facts(context: ToolContext) -> list[Fact]:
    """Return the person's facts, also those of files that are gone."""
    return await Facts(context.store, context.user_id).all() if context.store is not None else []


async def relevant_facts(context: ToolContext, stored: Sequence[Fact], request: str) -> list[str]:
    """Return the section with the stored facts that matter for the request, if any."""
    if context.store is None:
        return []
    facts = await visible_facts(Facts(context.store, context.user_id), context.toolbox, stored)
    section = facts_section(facts, request)
    return [section] if section else []


def _sentence(listed: Sequence[Fact], total: int) -> str:
    return f"{len(listed)} of {total} memories." if total else "Nothing is remembered."


def _view(fact: Fact) -> dict[str, Any]:
    return {"id": fact["id"], "fact": fact["text"], "from": fact["source"].get("name", "the person")}


REMEMBER: Final = LocalTool(
    name="remember",
    description="Keep one fact for later conversations, only if the person asks for it (“remember that ...”, "
    "“记住...”). Copy their words exactly: what is worded otherwise, or is from a file, waits for their approval.",
    schema=_REMEMBER,
    answer=_remember,
    rule=Rule("write", "high"),
    effect_of=_effect,
    vouched=asks_to_remember_it,
)
FORGET: Final = LocalTool(
    name="forget",
    description="Forget one remembered fact for good, only if the person asks for it.",
    schema=_FORGET,
    answer=_forget,
    rule=Rule("write", "high"),
    effect_of=_effect_of_forgetting,
    vouched=asks_to_forget_it,
)
LIST_MEMORIES: Final = LocalTool(
    name="list_memories",
    description="List what the person asked to be remembered, with the ids that `forget` takes.",
    schema=_LIST,
    answer=_list,
    rule=Rule("query", "low"),
)
CHANGING_TOOLS: Final = frozenset({REMEMBER.name, FORGET.name})
"""The tools that may change the person's facts."""
