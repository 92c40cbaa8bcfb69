"""File versions that are a person's own words: the assistant wrote them in a thread that had read nothing foreign."""

import asyncio
from collections.abc import Iterable

from langgraph.store.base import BaseStore

from graph.policy.grants import ROOT, label
from graph.policy.provenance import Known
from graph.policy.tools import ToolFacts


async def known(store: BaseStore | None, user_id: str, file_ids: Iterable[str]) -> Known:
    """Return what is known of these files. Without a store nothing is."""
    wanted = [key for key in dict.fromkeys(file_ids) if key]
    if store is None or not wanted:
        return {}
    found = await asyncio.gather(*(store.aget(_namespace(user_id), key) for key in wanted))
    return {item.key: item.value["version"] for item in found if item}


async def note(store: BaseStore | None, user_id: str, tool: ToolFacts, file_id: str, version: int) -> None:
    """Note that a call in an untainted thread, which made this version, wrote the person's own words."""
    if store is None or not tool.writes or not file_id or not version:
        return
    # Of a file that is changed in part, the rest has to be the person's own as well.
    if tool.writes == "part" and (await known(store, user_id, [file_id])).get(file_id) != version - 1:
        return
    await store.aput(_namespace(user_id), file_id, {"version": version}, index=False)


def _namespace(user_id: str) -> tuple[str, ...]:
    return (ROOT, label(user_id), "own_words")
