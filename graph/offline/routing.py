"""Who takes a message: the answer to `RouteDecision`."""

import re
from collections.abc import Sequence
from typing import Any, Final

from graph.offline.reading.conversation import Conversation
from graph.offline.reading.sections import Sections
from graph.offline.understanding.intents import GUESS, SURE, TALK, Intent, agent_for
from graph.offline.understanding.language import detect
from graph.offline.understanding.personal import personal
from graph.offline.understanding.requests import understand
from graph.state import AGENTS, AgentName, Language

UNSURE: Final = 0.2
LOOKING: Final = frozenset(
    {
        "find",
        "summarise",
        "ask",
        "read",
        "map_files",
        "list_folder",
        "tree",
        "info",
        "list_shares",
        "list_versions",
        "list_changes",
        "whoami",
    }
)
FOLLOWING: Final = frozenset({"choose", "address", "role_hint"})

REASONS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "search_agent": "This is about finding something in your documents.",
        "drive_agent": "This is about organising or sharing what is in your drive.",
        "document_agent": "This is about the text of a document.",
        "plan": "These are {count} things to do, one after the other.",
        "talk": "This is about the assistant, not about a document.",
        "memory": "This is about what is to be remembered.",
        "following": "This answers what was asked before.",
        "unclear": "It is not clear what this asks for.",
    },
    "zh": {
        "search_agent": "这是要在文档中查找内容。",
        "drive_agent": "这是要整理或共享云盘里的内容。",
        "document_agent": "这是关于文档的文字内容。",
        "plan": "这里有 {count} 件事，要依次完成。",
        "talk": "这是关于助手本身，与文档无关。",
        "memory": "这是关于要记住的内容。",
        "following": "这是在回答之前的提问。",
        "unclear": "不清楚这是要做什么。",
    },
}


def decide(conversation: Conversation) -> dict[str, Any]:
    """Return the arguments of `RouteDecision`."""
    language = language_of(conversation)
    if personal(conversation.asked):
        reason = REASONS[language]["memory"]
        return {"agent": "drive_agent", "needs_plan": False, "confidence": SURE, "reason": reason}
    intents = understand(conversation.asked, file_open=conversation.sections.file is not None)
    agent = _leader(intents, conversation.sections)
    return {
        "agent": agent,
        "needs_plan": needs_plan(intents),
        "confidence": round(min((intent.confidence for intent in intents), default=UNSURE), 2),
        "reason": _reason(intents, agent, language),
    }


def language_of(conversation: Conversation) -> Language:
    """Return the language to answer in: as the system message says, else as the person writes."""
    return conversation.sections.language or detect(conversation.asked)


def needs_plan(intents: Sequence[Intent]) -> bool:
    """Several requests, at least one of which changes something, are done step by step."""
    return len(intents) > 1 and any(intent.kind not in LOOKING | TALK for intent in intents)


def _leader(intents: Sequence[Intent], sections: Sections) -> AgentName:
    follows = intents and all(_follows(intent, sections) for intent in intents)
    if follows and sections.last_agent in AGENTS:
        return sections.last_agent
    agents = {agent_for(intent) for intent in intents}
    if not agents or "drive_agent" in agents:
        return "drive_agent"
    return "document_agent" if "document_agent" in agents else "search_agent"


def _follows(intent: Intent, sections: Sections) -> bool:
    """A choice or an address carries on; so does a bare name right after a question of the assistant."""
    if intent.kind in FOLLOWING:
        return True
    last = re.split(r"(?:^|\n)(?:ai|human): ", sections.conversation)[-1]
    return intent.kind == "find" and intent.confidence <= GUESS and re.search("[?？]", last) is not None


def _reason(intents: Sequence[Intent], agent: AgentName, language: Language) -> str:
    words = REASONS[language]
    if not intents:
        return words["unclear"]
    if needs_plan(intents):
        return words["plan"].format(count=len(intents))
    if all(intent.kind in TALK for intent in intents):
        return words["talk"]
    return words["following" if all(intent.kind in FOLLOWING for intent in intents) else agent]
