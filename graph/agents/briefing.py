"""The briefing of the router and the planner: they know the same as the specialists before they decide.

That is the conversation, the place with its listing and the first lines of the open file, the memories, the last plan
and the moment. The parts that are cheap without the drive are there even if the drive gives no answer.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from langgraph.runtime import Runtime

from graph.agents.authorship import foreign_sources
from graph.agents.person import read_moment
from graph.agents.surroundings import read_folder_surroundings
from graph.agents.surroundings_cache import SurroundingsCache
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.errors import DriveUnavailableError
from graph.memory.conversation import conversation_section
from graph.memory.last_turns import last_plan_section
from graph.memory.summaries import summary_section
from graph.memory.view import Sections, read_room, view_of
from graph.messages.compact_view import compact_sections, compact_view
from graph.messages.short_ids import ShortIds
from graph.models.asking import reads_structure
from graph.prompts import json_section, section
from graph.routing.route import place_ids
from graph.settings import ModelRole
from graph.state import State, Taint, Update, running_turn, said_last
from graph.tools.box import toolset
from graph.tools.memory import relevant_facts, stored_facts

READERS: Final[tuple[ModelRole, ...]] = ("router", "planner")
"""The models that read it: all ids in it are as short as those that specialists see, but for one of rules."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """The sections for a system message, the files in them whose words are not the person's own, and the short ids."""

    sections: list[str]
    taints: list[Taint] = field(default_factory=list[Taint])
    ids: ShortIds = field(default_factory=ShortIds)

    def mark(self, update: Update) -> Update:
        """Return the update of a node whose model was shown this."""
        if not self.taints:
            return update
        turn: Mapping[str, Any] = update.get("turn", {})
        return {**update, "turn": {**turn, "tainted": True}, "taint": self.taints[0]}


BriefingReader = Callable[[State, Runtime[RunContext]], Awaitable[Briefing]]


def make_briefing(deps: GraphDependencies, surroundings: SurroundingsCache) -> BriefingReader:
    """Return the reader of a turn's briefing."""

    async def brief(state: State, runtime: Runtime[RunContext]) -> Briefing:
        user, turn = deps.user(runtime), running_turn(state)
        tools = await toolset(deps, runtime)
        toolbox = tools.context.toolbox
        seen = await surroundings.read(read_folder_surroundings, state, runtime)
        taints = await foreign_sources(seen.reads, user, runtime.store)
        facts = await relevant_facts(tools.context, await stored_facts(tools.context), said_last(state))
        room = await read_room(deps, "planner", runtime)
        view = await view_of(state, Sections(), room, deps.result_store(runtime), 0, toolbox, compact=False)
        # Text shown here may come back as a title or a reason, which no revoked share takes out of the thread.
        is_of_others = any(taint["origin"] == "shared" for taint in taints)
        messages, ids = compact_view(view.messages)
        compact = not any(reads_structure(deps.model(role, runtime)) for role in READERS)
        shown = compact_sections(seen.sections, ids) if compact else seen.sections
        sections = [
            *tools.outside.briefing(turn["language"]),
            *facts,
            summary_section(state.get("summaries") or []),
            *shown,
            "" if is_of_others else seen.beginning,
            last_plan_section(state),
            conversation_section(messages if compact else view.messages),
            section("language", turn["language"]),
            await read_moment(state, toolbox, user, deps.clock),
        ]
        return Briefing([part for part in sections if part], taints, ids)

    async def read(state: State, runtime: Runtime[RunContext]) -> Briefing:
        try:
            return await brief(state, runtime)
        except DriveUnavailableError:
            return Briefing(
                [
                    json_section("place", place_ids(state.get("place", {}))),
                    section("language", running_turn(state)["language"]),
                    await read_moment(state, None, deps.user(runtime), deps.clock),
                ]
            )

    return read
