"""Fold the oldest turns into summaries at the beginning of a turn; by a model, if the settings say so."""

from collections.abc import Sequence
from typing import Final

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from graph.dependencies import GraphDependencies
from graph.errors import AgentError
from graph.limits.budget import Spending
from graph.memory.summaries import SUMMARY_CHARACTERS, Folded, extract_turns, fold
from graph.memory.view import window_tokens
from graph.messages.grouping import Block
from graph.models.asking import ask
from graph.prompts import load_prompt, section
from graph.state import State

SUMMARISED_CHARACTERS: Final = 12_000
PROMPT: Final = load_prompt("memory/summary")


async def fold_turns(
    state: State, messages: Sequence[AnyMessage], deps: GraphDependencies, spending: Spending
) -> Folded:
    """Return the summaries and the window of a turn that begins; unchanged as long as everything fits.

    What was said takes at most half of what a model is sent: the rest is for long results, and for this turn.
    """
    budget, scale = window_tokens(deps.settings) // 2, state.get("token_scale") or 1.0
    folded = fold(messages, state.get("summaries") or [], state.get("window_start"), budget, scale)
    if not folded.fresh or deps.settings.summaries != "model":
        return folded
    text = await _summarise_with_model(folded.fresh, deps, spending)
    if text:
        folded.summaries[-1] = {**folded.summaries[-1], "text": text}
    return folded


async def _summarise_with_model(turns: Sequence[Sequence[Block]], deps: GraphDependencies, spending: Spending) -> str:
    """Return the model's summary; empty if it has none to give: then the extract stands."""
    told = section("conversation", extract_turns(turns)[-SUMMARISED_CHARACTERS:])
    asked = [SystemMessage(PROMPT), HumanMessage(told)]
    try:
        answer = await ask(deps.models["router"], asked, hidden=True)
    except AgentError:
        return ""
    spending.add(answer, asked)
    return answer.text.strip()[:SUMMARY_CHARACTERS]
