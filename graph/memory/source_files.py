"""Tie facts to their files: hidden while the file is in the trash, forgotten when it is gone."""

import asyncio
from collections.abc import Sequence
from typing import Final, Literal

from graph.drive.connections import Toolbox
from graph.drive.tool_names import FILE_INFO
from graph.errors import DriveUnavailableError
from graph.memory.facts import Fact, Facts, files_of

FileState = Literal["there", "trashed", "gone", "unknown"]
GONE: Final = "not_found"


async def visible_facts(facts: Facts, toolbox: Toolbox, known: Sequence[Fact] | None = None) -> list[Fact]:
    """Return the person's facts without those of trashed files; those of files that are gone are forgotten for good.

    A file that the person may not see any more is gone for them. If the drive does not answer, nothing is forgotten,
    and what is from files is left out. `known` are the facts, if they were read a moment ago.
    """
    known = await facts.all() if known is None else known
    files = files_of(known)
    if not files:
        return list(known)
    states = dict(zip(files, await asyncio.gather(*(file_state(toolbox, file) for file in files)), strict=True))
    shown: list[Fact] = []
    for fact in known:
        status = states.get(fact["source"].get("file_id", ""), "there")
        if status == "there":
            shown.append(fact)
        elif status == "gone":
            await facts.forget(fact["id"])
    return shown


async def file_state(toolbox: Toolbox, file_id: str) -> FileState:
    """Return what has become of a file, as the person sees it."""
    if FILE_INFO not in toolbox.tools:
        return "unknown"
    try:
        result = await toolbox.call(FILE_INFO, {"item_id": file_id}, meta={})
    except DriveUnavailableError:
        return "unknown"
    data = result.structuredContent or {}
    if not result.isError:
        return "trashed" if data.get("trashed_at") else "there"
    if data.get("code") != GONE:
        return "unknown"
    return "gone"
