"""Begins a step over each file of a folder: finds the files. Each is then read in a task of its own."""

from collections import deque
from typing import Any, Final

from langgraph.runtime import Runtime
from langgraph.types import Send

from graph.agents.origins import foreign_sources
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import Toolbox
from graph.drive.tool_names import FILE_INFO, LIST_FOLDER, SEARCH_NAMES
from graph.errors import AgentError, DriveUnavailableError
from graph.limits.limits import limit_reached
from graph.messages.written import text_of
from graph.planning.map_reduce.prompts import Item, Survey
from graph.policy.provenance import Read, reads_in
from graph.state import State, Step, Update, current_step, running_turn

MOST_ITEMS: Final = 500
MOST_FOLDERS: Final = 200
PAGE: Final = 200
FOUND_FOLDERS: Final = 20


class ListingError(AgentError):
    """The folder could not be listed; the sentence is the drive's."""

    code = "not_found"
    retryable = True

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self._said = said

    @property
    def sentence(self) -> str:
        """The sentence of the drive."""
        return self._said


def make_map_items(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def map_items(state: State, runtime: Runtime[RunContext]) -> Update:
        step = current_step(state)
        if step is None:
            return {}
        if reached := limit_reached(state, deps.settings):
            return {"limit": reached, "survey": None, "findings": None}
        try:
            toolbox = await deps.connections.toolbox(deps.user(runtime))
            survey, reads = await _survey(toolbox, step, state)
            taints = await foreign_sources(reads, deps.user(runtime), runtime.store)
        except (ListingError, DriveUnavailableError) as error:
            error.language = running_turn(state)["language"]
            return {"failure": error.sentence, "survey": None, "findings": None}
        update: Update = {"survey": survey, "findings": None, "failure": None}
        return {**update, "turn": {"tainted": True}, "taint": taints[0]} if taints else update

    return map_items


async def after_map_items(state: State) -> str | list[Send]:
    """A task for each file; without any, what is to be said of none."""
    survey = state.get("survey")
    if survey is None:
        return "advance"
    turn = running_turn(state)
    tasks = [
        Send("map_item", {"item": item, "survey": {**survey, "items": []}, "total": len(survey["items"]), "turn": turn})
        for item in survey["items"]
    ]
    return tasks or "map_whole"


async def _survey(toolbox: Toolbox, step: Step, state: State) -> tuple[Survey, list[Read]]:
    """Return the files, and whose names were seen on the way: a name may say more than what a file is called."""
    named = step.get("folder")
    here = state.get("place", {}).get("folder_id") or "root"
    found: list[Item] = []
    reads: list[Read] = []
    waiting = deque([await _folder(toolbox, named) if named else here])
    seen = 0
    while waiting and seen < MOST_FOLDERS:
        seen += 1
        items = await _listed(toolbox, waiting.popleft())
        reads += reads_in(toolbox.facts_of(LIST_FOLDER), {"items": items})
        for item in items:
            if item.get("kind") == "folder":
                waiting.append(str(item["id"]))
            else:
                found.append({"id": str(item["id"]), "path": str(item.get("path") or item.get("name") or item["id"])})
    survey: Survey = {
        "step_id": step["id"],
        "task": step["instruction"],
        "items": found[:MOST_ITEMS],
        "left_out": max(0, len(found) - MOST_ITEMS),
    }
    return survey, reads


async def _folder(toolbox: Toolbox, named: str) -> str:
    """Return the folder's id or path; a name that is neither is looked for. Left as it is if it can't be found."""
    for ref in (named, f"/{named}"):
        info = await toolbox.call(FILE_INFO, {"item_id": ref}, meta={})
        if not info.isError:
            return ref
    found = await toolbox.call(SEARCH_NAMES, {"query": named, "limit": FOUND_FOLDERS}, meta={})
    hits = (found.structuredContent or {}).get("hits", [])
    folders = {hit["file"]["id"] for hit in hits if _is_called(hit["file"], named)}
    return folders.pop() if len(folders) == 1 else named


def _is_called(item: dict[str, Any], name: str) -> bool:
    return item.get("kind") == "folder" and str(item.get("name", "")).casefold() == name.casefold()


async def _listed(toolbox: Toolbox, folder_id: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        args: dict[str, Any] = {"folder_id": folder_id, "limit": PAGE}
        result = await toolbox.call(LIST_FOLDER, {**args, "cursor": cursor} if cursor else args, meta={})
        if result.isError:
            raise ListingError(text_of(result))
        data = result.structuredContent or {}
        items += data.get("items", [])
        cursor = data.get("cursor")
        if not cursor:
            return items
