"""Choose the specialist of a message: the answer to `RouteDecision`."""

from typing import Any, Final

from graph.language import language_of as written_in
from graph.offline.reading.conversation import Conversation
from graph.offline.understanding.followup import is_fragment
from graph.offline.understanding.intent import CHANGING, EDITING, Intent
from graph.offline.understanding.requests import memory_intent, understand
from graph.state import AGENTS, AgentName, Language

SURE, UNSURE = 0.92, 0.2
READING: Final = frozenset({"find", "lookup", "ask", "compare", "read", "summarise", "map_files", "related"})
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
    if memory_intent(conversation.asked):
        return _decision(language, "drive_agent", "memory")
    intents = understand(conversation.asked, file_open=conversation.sections.file is not None)
    last = conversation.sections.last_agent
    if last in AGENTS and "ai: " in conversation.sections.conversation and is_fragment(intents, conversation.asked):
        return _decision(language, last, "following")
    if not intents:
        return _decision(language, "drive_agent", "unclear") | {"confidence": UNSURE}
    agents = {agent_for(intent) for intent in intents}
    leads: AgentName = "document_agent" if "document_agent" in agents else "search_agent"
    leads = "drive_agent" if "drive_agent" in agents else leads
    # Several requests, at least one of which changes something, are done step by step.
    if len(intents) > 1 and any(intent.action in CHANGING for intent in intents):
        return _decision(language, leads, "plan", count=len(intents))
    return _decision(language, leads, leads)


def _decision(language: Language, agent: str, key: str, count: int = 0) -> dict[str, Any]:
    why = REASONS[key][0 if language == "en" else 1].format(count=count)
    return {"agent": agent, "needs_plan": count > 0, "confidence": SURE, "reason": why}


def agent_for(intent: Intent) -> AgentName:
    """Return the specialist that has the tools for an intent."""
    if intent.action in EDITING:
        return "document_agent"
    if intent.action in READING:
        opened = intent.action in {"read", "summarise"} and intent.target and intent.target.form == "open"
        return "document_agent" if opened else "search_agent"
    return "drive_agent"


def language_of(conversation: Conversation) -> Language:
    """Return the language to answer in: as the system message says, else as the person writes."""
    return conversation.sections.language or written_in(conversation.asked)
