"""Summaries by a model, of turns that no longer fit; and the thread made shorter where a model refuses its length."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.errors import AgentError, ModelContextError
from graph.limits.budget import Spending
from graph.memory.summaries import SUMMARY_CHARACTERS, Folded, extract_turns, fold
from graph.memory.view import LEAST_TOKENS, View, answer_tokens
from graph.messages.grouping import Block
from graph.messages.tokens import tokens_of_messages
from graph.models.asking import ask
from graph.models.overflow import limit_in
from graph.models.shortening import ask_once_shorter
from graph.prompts import load_prompt, section
from graph.state import Narrowed, State, Update

SUMMARISED_CHARACTERS: Final = 12_000
PROMPT: Final = load_prompt("memory/summary")


@dataclass(frozen=True, slots=True)
class Summarizer:
    """The model that summarises in a run; `spending` counts its usage."""

    deps: GraphDependencies
    runtime: Runtime[RunContext]
    spending: Spending

    async def summarise(self, turns: Sequence[Sequence[Block]]) -> str:
        """Return the model's summary; empty where rules make it, or the model has none to give."""
        if not self.deps.settings.summarises_with(self.deps.model_name("summarizer", self.runtime)):
            return ""
        conversation = section("conversation", extract_turns(turns, SUMMARISED_CHARACTERS))
        asked = [SystemMessage(PROMPT), HumanMessage(conversation)]
        try:
            model = self.deps.model("summarizer", self.runtime)
            answer = await ask_once_shorter(lambda sent: ask(model, sent, hidden=True), asked)
        except AgentError:
            return ""
        self.spending.add(answer, asked, self.deps.prices("summarizer", self.runtime))
        return answer.text.strip()[:SUMMARY_CHARACTERS]


async def fold_turns(state: State, messages: Sequence[AnyMessage], budget: int, summarizer: Summarizer) -> Folded:
    """Return the summaries and the window for so many tokens; unchanged as long as everything fits."""
    scale = state.get("token_scale") or 1.0
    folded = fold(messages, state.get("summaries") or [], state.get("window_start"), budget, scale)
    if folded.fresh:
        newest = folded.summaries[-1]
        newest["created_at"] = summarizer.deps.clock().isoformat()
        newest["text"] = await summarizer.summarise(folded.fresh) or newest["text"]
    return folded


async def compress(state: State, view: View, refused: ModelContextError, summarizer: Summarizer) -> Update:
    """Return the update with which a refused view becomes half as long, or as short as the service says."""
    model = summarizer.deps.model_name("agent", summarizer.runtime)
    narrowed: Narrowed = {"model": model, "tokens": _narrower(view, refused, state.get("token_scale") or 1.0)}
    folded = await fold_turns(state, state["messages"], narrowed["tokens"], summarizer)
    return {"narrowed": narrowed, "summaries": folded.summaries, "window_start": folded.window_start}


def _narrower(view: View, refused: ModelContextError, scale: float) -> int:
    shown = round(scale * tokens_of_messages(view.messages[1:]))
    tokens, limit = shown // 2, limit_in(refused.detail)
    if limit:
        beside = round(scale * view.recorded["tokens"]) - shown
        tokens = min(tokens, limit - answer_tokens(limit) - beside)
    return max(LEAST_TOKENS, tokens)
