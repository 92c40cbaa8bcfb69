"""Ends a step over many files: brings together what was found in them, and says how many were read."""

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import HumanMessage, SystemMessage

from graph.dependencies import GraphDependencies
from graph.errors import ModelError
from graph.limits.budget import Spending
from graph.limits.limits import has_budget, limit_reached
from graph.messages.written import add_messages, link_filter_for, say
from graph.models.asking import ask
from graph.planning.map_reduce.map_items import MOST_ITEMS
from graph.planning.map_reduce.prompts import (
    LANGUAGES,
    TEXTS,
    WHOLE,
    Finding,
    Survey,
    answers_text,
    groups,
    reply_of,
    told,
    which_failed,
)
from graph.state import Language, LimitReached, State, Update, current_step, running_turn


def make_map_whole(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def map_whole(state: State) -> Update:
        survey, language = cast("Survey | None", state.get("survey")), running_turn(state)["language"]
        found = state.get("findings") or {}
        ended: Update = {"survey": None, "findings": None}
        if survey is None or current_step(state) is None:
            return ended
        if not survey["items"]:
            return {**add_messages([say(TEXTS["empty"][language])]), **ended}
        findings = [found[item["id"]] for item in survey["items"] if item["id"] in found]
        failed = [one for one in findings if one["status"] == "failed"]
        if len(failed) == len(findings):
            if reached := _limit(state, deps):
                return {**ended, "limit": reached}
            which = which_failed(failed, language)
            return {**ended, "failure": TEXTS["none_read"][language].format(total=len(findings), which=which)}
        bringing = Bringing(deps, survey["task"], language)
        whole = await bringing.together(state, findings)
        text = link_filter_for(state, deps.hosts).clean(told(survey, findings, whole, MOST_ITEMS, language))
        return {**add_messages([say(f"{text}\n")], usage=dict(bringing.spending.usage)), **ended, "failure": None}

    return map_whole


class Bringing:
    """Brings answers together, level by level where they are long. `spending` is what the model took."""

    def __init__(self, deps: GraphDependencies, task: str, language: Language) -> None:
        self._deps = deps
        self._task = task
        self._language: Language = language
        self.spending = Spending(estimates=has_budget(deps.settings))

    async def together(self, state: State, findings: Sequence[Finding]) -> str:
        """Return the whole; where the model fails or the turn is at a limit, why there is none."""
        answers = [(one["path"], one["text"]) for one in findings if one["status"] == "read"]
        if not answers:
            return TEXTS["nothing"][self._language]
        if reached := _limit(state, self._deps):
            return TEXTS["no_whole"][self._language].format(why=reached["message"])
        try:
            return await self._levels(answers)
        except ModelError as error:
            error.language = self._language
            return TEXTS["no_whole"][self._language].format(why=error.sentence.rstrip(".。"))

    async def _levels(self, answers: Sequence[tuple[str, str]]) -> str:
        while len(parts := groups(answers)) > 1:
            said = [await self._whole(part) for part in parts]
            answers = [(f"group {number}", text) for number, text in enumerate(said, 1)]
        return await self._whole(answers)

    async def _whole(self, answers: Sequence[tuple[str, str]]) -> str:
        system = WHOLE.format(language=LANGUAGES[self._language])
        asked = [SystemMessage(system), HumanMessage(answers_text(self._task, answers))]
        answer = await ask(self._deps.models["agent"], asked, hidden=True)
        self.spending.add(answer, asked)
        return reply_of(answer.text) or TEXTS["nothing"][self._language]


def _limit(state: State, deps: GraphDependencies) -> LimitReached | None:
    """Return the limit of the turn; what calls were refused for has ended with the step before."""
    return limit_reached({**state, "messages": []}, deps.settings)
