"""Who takes a message: the answer to `RouteDecision`."""

from collections.abc import Sequence
from typing import Any, Final

from graph.language import language_of as written_in
from graph.offline.reading.conversation import Conversation
from graph.offline.understanding.followup import is_fragment
from graph.offline.understanding.requests import CHANGING, EDITING, Wish, memory_wish, understand
from graph.state import AGENTS, AgentName, Language

SURE: Final = 0.92
UNSURE: Final = 0.2
READING: Final = frozenset({"find", "lookup", "ask", "compare", "read", "summarise", "map_files", "related"})
OPEN: Final = frozenset({"open"})
REASONS: Final[dict[str, tuple[str, str]]] = {
    "search_agent": ("This is about finding something in your documents.", "这是要在文档中查找内容。"),
    "drive_agent": ("This is about organising or sharing what is in your drive.", "这是要整理或共享云盘里的内容。"),
    "document_agent": ("This is about the text of a document.", "这是关于文档的文字内容。"),
    "plan": ("These are {count} things to do, one after the other.", "这里有 {count} 件事，要依次完成。"),
    "memory": ("This is about what is to be remembered.", "这是关于要记住的内容。"),
    "following": ("This answers what was asked before.", "这是在回答之前的提问。"),
    "unclear": ("It is not clear what this asks for.", "不清楚这是要做什么。"),
}


def decide(conversation: Conversation) -> dict[str, Any]:
    """Return the arguments of `RouteDecision`."""
    language = language_of(conversation)
    if memory_wish(conversation.asked):
        return _decision("drive_agent", SURE, reason(language, "memory"))
    wishes = understand(conversation.asked, file_open=conversation.sections.file is not None)
    last = conversation.sections.last_agent
    if last in AGENTS and "ai: " in conversation.sections.conversation and is_fragment(wishes, conversation.asked):
        return _decision(last, SURE, reason(language, "following"))
    if not wishes:
        return _decision("drive_agent", UNSURE, reason(language, "unclear"))
    agents = {agent_for(wish) for wish in wishes}
    leads: AgentName = "document_agent" if "document_agent" in agents else "search_agent"
    leads = "drive_agent" if "drive_agent" in agents else leads
    if needs_plan(wishes):
        return _decision(leads, SURE, reason(language, "plan").format(count=len(wishes)), needs_plan=True)
    return _decision(leads, SURE, reason(language, leads))


def _decision(agent: AgentName | str, confidence: float, why: str, *, needs_plan: bool = False) -> dict[str, Any]:
    return {"agent": agent, "needs_plan": needs_plan, "confidence": confidence, "reason": why}


def reason(language: Language, key: str) -> str:
    """Return why, in the person's language."""
    return REASONS[key][0 if language == "en" else 1]


def agent_for(wish: Wish) -> AgentName:
    """Return the specialist that has the tools for a wish."""
    if wish.action in EDITING:
        return "document_agent"
    if wish.action in READING:
        about_open = wish.action in {"read", "summarise"} and wish.target is not None and wish.target.form in OPEN
        return "document_agent" if about_open else "search_agent"
    return "drive_agent"


def language_of(conversation: Conversation) -> Language:
    """Return the language to answer in: as the system message says, else as the person writes."""
    return conversation.sections.language or written_in(conversation.asked)


def needs_plan(wishes: Sequence[Wish]) -> bool:
    """Several requests, at least one of which changes something, are done step by step."""
    return len(wishes) > 1 and any(wish.action in CHANGING for wish in wishes)
