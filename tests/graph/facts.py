"""The policy's facts of each tool of the drive and of the assistant, as they follow from the tools' records."""

from typing import Final

from drive_server.kernel.context import META_TOOL
from drive_server.mcp.server import GROUPS
from graph.policy.tools import ToolFacts, read_facts
from graph.tools.box import LOCAL_TOOLS

DRIVE_TOOLS: Final = {
    spec.name: read_facts(spec.name, spec.annotations.model_dump(), spec.meta[META_TOOL])
    for group in GROUPS
    for spec in group.specs()
}
TOOLS: Final = {**DRIVE_TOOLS, **{tool.name: tool.facts for tool in LOCAL_TOOLS}}
ASKED: Final = [name for name, tool in TOOLS.items() if tool.rule and tool.rule.verdict == "ask"]


def facts_of(name: str) -> ToolFacts:
    """Return the facts of the tool of that name, letter by letter."""
    return TOOLS.get(name, ToolFacts(name))
