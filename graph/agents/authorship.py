"""Find the foreign sources among files that a model read, and record the versions that the person wrote."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.store.base import BaseStore
from mcp.types import CallToolResult

from graph.context import RunContext
from graph.drive.connections import META_FOREIGN, META_OF_OTHERS
from graph.messages.others import mark
from graph.policy.grants import ROOT, label
from graph.policy.provenance import OwnVersions, Read, foreign, origin_of, reads_in
from graph.policy.tools import ToolFacts
from graph.state import Taint


async def foreign_words(
    tool: ToolFacts, result: CallToolResult, user: RunContext, store: BaseStore | None
) -> list[Taint]:
    """Return the files of which a tool's result, or its error, has words that are not the person's own."""
    return await foreign_sources(reads_of(tool, result), user, store)


def reads_of(tool: ToolFacts, result: CallToolResult) -> list[Read]:
    """Return the files of which a result has words, and the items in it that somebody else named."""
    return reads_in(tool, result.structuredContent, (result.meta or {}).get(META_FOREIGN))


def mark_result(message: ToolMessage, tool: ToolFacts, result: CallToolResult) -> ToolMessage:
    """Return a result's message with the items of others that it is about, as the drive states them."""
    others: set[str] = set((result.meta or {}).get(META_OF_OTHERS, ()))
    reads = reads_in(tool, result.structuredContent)
    # Words that are of no named file, such as near matches, may be of each of them.
    return mark(
        message, others, others & {read.file_id for read in reads} if all(read.path for read in reads) else others
    )


async def foreign_sources(reads: Sequence[Read], user: RunContext, store: BaseStore | None) -> list[Taint]:
    """Return those of the files whose words are not the person's own."""
    mine = [read.file_id for read in reads if origin_of(read, user.email, {read.file_id: read.version}) == "own"]
    return foreign(reads, user.email, await own_versions(store, user.user_id, mine))


async def own_versions(store: BaseStore | None, user_id: str, file_ids: Iterable[str]) -> OwnVersions:
    """Return the own versions of these files, by id; without a store none."""
    keys = [key for key in dict.fromkeys(file_ids) if key]
    if store is None or not keys:
        return {}
    found = await asyncio.gather(*(store.aget(_namespace(user_id), key) for key in keys))
    return {item.key: item.value["version"] for item in found if item}


async def record_own_version(
    tool: ToolFacts, data: Mapping[str, Any] | None, user: RunContext, store: BaseStore | None
) -> None:
    """Record the version that a call in an untainted thread has just written as the person's own."""
    file_id, version = str((data or {}).get("id") or ""), (data or {}).get("version")
    if store is None or not tool.writes or not file_id or not isinstance(version, int) or not version:
        return
    # After a change of a part, the rest has to be the person's own as well.
    if tool.writes == "part" and (await own_versions(store, user.user_id, [file_id])).get(file_id) != version - 1:
        return
    await store.aput(_namespace(user.user_id), file_id, {"version": version}, index=False)


def _namespace(user_id: str) -> tuple[str, ...]:
    return (ROOT, label(user_id), "own_words")
