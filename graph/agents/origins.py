"""Find the foreign sources among the files that a model read, and record the versions that are the person's own."""

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.store.base import BaseStore

from graph.context import RunContext
from graph.policy.authorship import known, note
from graph.policy.provenance import Read, foreign, origin_of
from graph.policy.tools import ToolFacts
from graph.state import Taint


async def foreign_sources(reads: Sequence[Read], user: RunContext, store: BaseStore | None) -> list[Taint]:
    """Return those of the files whose words are not the person's own."""
    mine = [read.file_id for read in reads if origin_of(read, user.email, {read.file_id: read.version}) == "own"]
    return foreign(reads, user.email, await known(store, user.user_id, mine))


async def record_own_version(
    tool: ToolFacts, data: Mapping[str, Any] | None, user: RunContext, store: BaseStore | None
) -> None:
    """Note that what an untainted thread has just written are the person's own words."""
    written = data or {}
    version = written.get("version")
    await note(store, user.user_id, tool, str(written.get("id") or ""), version if isinstance(version, int) else 0)
