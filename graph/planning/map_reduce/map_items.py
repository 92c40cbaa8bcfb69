"""Begins a step over each file of a folder: finds the files. Each is then read in a task of its own."""

from collections import deque
from collections.abc import Sequence
from typing import Any, Final, cast

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from langgraph.types import Send

from graph.agents.authorship import foreign_sources, reads_of
from graph.agents.person import read_moment
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import Toolbox
from graph.drive.tool_names import FILE_INFO, LIST_FOLDER, SEARCH_NAMES
from graph.errors import AgentError, DriveUnavailableError, ModelError
from graph.language import Language
from graph.limits.limits import limit_reached
from graph.messages.others import mark
from graph.messages.written import add_messages, link_filter_for, say, text_of
from graph.models.asking import ask, cut_notice
from graph.models.shortening import ask_once_shorter
from graph.planning.map_reduce.prompts import (
    TEXTS,
    WHOLE,
    Finding,
    Item,
    Survey,
    answers_text,
    failed_files,
    groups,
    render_answer,
    reply_of,
    system_text,
)
from graph.policy.provenance import Read
from graph.state import LimitReached, State, Step, Update, current_step, running_turn

MAX_ITEMS: Final = 500
MAX_FOLDERS: Final = 200
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
            survey["moment"] = await read_moment(state, toolbox, deps.user(runtime), deps.clock)
            taints = await foreign_sources(reads, deps.user(runtime), runtime.store)
        except (ListingError, DriveUnavailableError) as error:
            sentence = error.in_language(running_turn(state)["language"]).sentence
            return {"failure": sentence, "survey": None, "findings": None}
        update: Update = {"survey": survey, "findings": None, "failure": None}
        return {**update, "turn": {"tainted": True}, "taint": taints[0]} if taints else update

    return map_items


async def after_map_items(state: State) -> str | list[Send]:
    """A task for each file; without any, the node that says so."""
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
    """Return the files, and the reads that record who named the items on the way: a name may say more than a label."""
    named = step.get("folder")
    here = state.get("place", {}).get("folder_id") or "root"
    found: list[Item] = []
    reads: list[Read] = []
    waiting = deque([await _folder(toolbox, named) if named else here])
    seen = 0
    while waiting and seen < MAX_FOLDERS:
        seen += 1
        items = await _listed(toolbox, waiting.popleft(), reads)
        for item in items:
            if item.get("kind") == "folder":
                waiting.append(str(item["id"]))
            else:
                found.append({"id": str(item["id"]), "path": str(item.get("path") or item.get("name") or item["id"])})
    survey: Survey = {
        "step_id": step["id"],
        "task": step["instruction"],
        "items": found[:MAX_ITEMS],
        "left_out": max(0, len(found) - MAX_ITEMS),
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


async def _listed(toolbox: Toolbox, folder_id: str, reads: list[Read]) -> list[dict[str, Any]]:
    """Return the items of the folder, and add to `reads` who named them."""
    items: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        args: dict[str, Any] = {"folder_id": folder_id, "limit": PAGE}
        result = await toolbox.call(LIST_FOLDER, {**args, "cursor": cursor} if cursor else args, meta={})
        if result.isError:
            raise ListingError(text_of(result))
        reads += reads_of(toolbox.facts_of(LIST_FOLDER), result)
        data = result.structuredContent or {}
        items += data.get("items", [])
        cursor = data.get("cursor")
        if not cursor:
            return items


def make_map_whole(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def map_whole(state: State, runtime: Runtime[RunContext]) -> Update:
        survey, language = cast("Survey | None", state.get("survey")), running_turn(state)["language"]
        found = state.get("findings") or {}
        ended: Update = {"survey": None, "findings": None}
        if survey is None or current_step(state) is None:
            return ended
        if not survey["items"]:
            return {**add_messages([say(TEXTS.say("files.empty", language))]), **ended}
        findings = [found[item["id"]] for item in survey["items"] if item["id"] in found]
        failed = [one for one in findings if one["status"] == "failed"]
        if len(failed) == len(findings):
            if reached := _limit(state, deps):
                return {**ended, "limit": reached}
            which = failed_files(failed, language)
            return {**ended, "failure": TEXTS.say("files.none_read", language, total=len(findings), which=which)}
        whole_answer = WholeAnswer(deps, survey, language, runtime)
        whole = await whole_answer.combine(state, findings)
        text = link_filter_for(state, deps.hosts).clean(render_answer(survey, findings, whole, MAX_ITEMS, language))
        others = [one["id"] for one in findings if one.get("of_others")]
        answer = mark(say(f"{text}\n"), others, others)
        return {**add_messages([answer], usage=dict(whole_answer.spending.usage)), **ended, "failure": None}

    return map_whole


class WholeAnswer:
    """Brings answers together, level by level where they are long. `spending` is the model's usage."""

    def __init__(
        self, deps: GraphDependencies, survey: Survey, language: Language, runtime: Runtime[RunContext]
    ) -> None:
        self._deps = deps
        self._survey = survey
        self._language: Language = language
        self._model, self.spending = deps.model("agent", runtime), deps.spending("agent", runtime)

    async def combine(self, state: State, findings: Sequence[Finding]) -> str:
        """Return the whole; where the model fails or the turn is at a limit, why there is none."""
        answers = [(one["path"], one["text"]) for one in findings if one["status"] == "read"]
        if not answers:
            return TEXTS.say("files.nothing", self._language)
        if reached := _limit(state, self._deps):
            return TEXTS.say("files.no_whole", self._language, why=reached["message"])
        try:
            return await self._levels(answers)
        except ModelError as error:
            why = error.in_language(self._language).sentence.rstrip(".。")
            return TEXTS.say("files.no_whole", self._language, why=why)

    async def _levels(self, answers: Sequence[tuple[str, str]]) -> str:
        while len(parts := groups(answers)) > 1:
            said = [await self._whole(part) for part in parts]
            answers = [(f"group {number}", text) for number, text in enumerate(said, 1)]
        return await self._whole(answers)

    async def _whole(self, answers: Sequence[tuple[str, str]]) -> str:
        system = system_text(WHOLE, self._language, self._survey)
        asked = [SystemMessage(system), HumanMessage(answers_text(self._survey["task"], answers))]
        answer = await ask_once_shorter(lambda sent: ask(self._model, sent, hidden=True), asked)
        self.spending.add(answer, asked)
        said = reply_of(answer.text) or TEXTS.say("files.nothing", self._language)
        return said + cut_notice(answer, self._language)


def _limit(state: State, deps: GraphDependencies) -> LimitReached | None:
    """Return the limit of the turn; refusals of single calls ended with the step before."""
    return limit_reached({**state, "messages": []}, deps.settings)
