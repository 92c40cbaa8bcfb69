"""`more_tools`: the tools beside the core, told to a host's model once it asks for them."""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import pairwise
from typing import Annotated, Any, Final

from mcp.types import CallToolResult, ServerNotification, Tool, ToolListChangedNotification
from pydantic import BaseModel, Field

from drive_server.kernel.access import Scope
from drive_server.kernel.context import META_TOOL
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Message
from drive_server.mcp import icons
from drive_server.mcp.calls.call import Call, answer
from drive_server.mcp.protocol.sessions import DriveSession
from drive_server.mcp.tiers.tiers import Tiers
from drive_server.mcp.tools.definition.arguments import AS_LIST
from drive_server.mcp.tools.definition.spec import READS, ToolGroup, ToolSpec, spec_of
from drive_server.registry import ServiceRegistry

MAX_WORDS: Final = 40
MAX_WORD_CHARACTERS: Final = 100
MAX_FITTING: Final = 8
"""Tools that one wording brings; a group brings all of its own."""
LETTERS: Final = re.compile(r"[^\W\d_\u4e00-\u9fff]{3,}")
CHINESE: Final = re.compile(r"[\u4e00-\u9fff]+")
STEM: Final = 4
"""So many letters of a word have to be the same."""
CHANGED: Final = ServerNotification(ToolListChangedNotification())

Word = Annotated[str, Field(min_length=1, max_length=MAX_WORD_CHARACTERS)]
Words = Annotated[
    list[Word],
    AS_LIST,
    Field(min_length=1, max_length=MAX_WORDS, description="groups, tools, or what you want to do in a few words"),
]


class FurtherTool(BaseModel):
    """A tool with its arguments, those that may be left out with a `?`; its `definition` where no list will have it."""

    name: str
    arguments: str
    sentence: str
    definition: dict[str, Any] | None = None


class MoreToolsResult(BaseModel):
    """The tools that can be called now; words that no tool fits are `missing`."""

    tools: list[FurtherTool]
    missing: list[str]


class MoreTools(ToolGroup):
    """Tells of the tools beside the core."""

    icon = icons.STACK
    label = "session"

    def __init__(self, drive: ServiceRegistry, tiers: Tiers, tools: Callable[[], Awaitable[Sequence[Tool]]]) -> None:
        super().__init__(drive)
        self._tiers = tiers
        tiers.more = spec_of(self.more_tools).name
        self._tools = tools

    @ToolSpec(None, "query", "low", READS)
    async def more_tools(self, call: Call, names: Words) -> Annotated[CallToolResult, MoreToolsResult]:
        """Get further tools, by their names, their groups, or in words; then call them.

        Use when: what you want to do needs a tool that is not listed.
        Not for: doing it; the tools themselves do.
        Notes: look here before you say that something can't be done.
        """
        actor = await call.actor()
        session = call.session
        assert isinstance(session, DriveSession)  # noqa: S101 - the protocol's sessions all are
        by_words = await self._found(names, actor.principal.scopes)
        found = {tool.name: self._tiers.shown(tool) for tools in by_words.values() for tool in tools}
        if not found:
            raise InvalidInputError(
                Message.of("no_such_tools"), details={"groups": self._tiers.further(actor.principal.scopes)}
            )
        if _put(session, found):
            # On the stream of this call: many hosts read no other.
            await session.send_notification(CHANGED, call.request_context.request_id)
        told = [_told(tool, whole=not session.keeps_tools) for tool in found.values()]
        result = MoreToolsResult(tools=told, missing=[words for words, tools in by_words.items() if not tools])
        return answer(actor, _text(result), result, to_lean=_without_nulls)

    async def _found(self, names: Sequence[str], scopes: frozenset[Scope]) -> dict[str, list[Tool]]:
        groups = self._tiers.further(scopes)
        tools = {tool.name: tool for tool in await self._tools() if self._tiers.allows(tool.name, scopes)}
        further = [tools[name] for group in groups.values() for name in group]
        found: dict[str, list[Tool]] = {}
        for words in names:
            word = words.strip()
            exact = groups.get(word.casefold(), [word])
            named = [tools[name] for name in exact if name in tools]
            found[words] = named if named or word in self._tiers.labels else _fitting(words, further)
        return found


def _put(session: DriveSession, names: Iterable[str]) -> bool:
    """Add the tools to the session's list; say whether it has a list, and they are new in it."""
    fresh = [name for name in names if name not in session.asked_tools]
    session.asked_tools.update(dict.fromkeys(fresh))
    return session.keeps_tools and bool(fresh)


def _fitting(words: str, tools: Sequence[Tool]) -> list[Tool]:
    """Return the tools whose names, titles and first sentences have most of the words."""
    wanted = _parts(words)
    scored = [(sum(_is_in(part, _searched(tool)) for part in wanted), tool) for tool in tools]
    best = max((score for score, _ in scored), default=0)
    return [tool for score, tool in scored if score == best][:MAX_FITTING] if best else []


def _parts(words: str) -> set[str]:
    """Return the words of three letters or more, and of Chinese each two characters that stand side by side."""
    chinese = (a + b for run in CHINESE.findall(words) for a, b in pairwise(run))
    return {*LETTERS.findall(words.casefold()), *chinese}


def _is_in(part: str, others: set[str]) -> bool:
    """Say whether a word is among the others, or begins as one of them: `share` as `shares`."""
    if len(part) < STEM:
        return part in others
    return any(len(one) >= STEM and (one.startswith(part) or part.startswith(one)) for one in others)


def _searched(tool: Tool) -> set[str]:
    sentence, _, _ = (tool.description or "").partition("\n")
    record: dict[str, Any] = (tool.meta or {}).get(META_TOOL, {})
    titles = [str(value) for key, value in record.items() if key.startswith("title_")]
    return _parts(" ".join([tool.name, tool.title or "", sentence, *titles]))


def _without_nulls(result: BaseModel) -> dict[str, Any]:
    return result.model_dump(mode="json", exclude_none=True)


def _told(tool: Tool, *, whole: bool) -> FurtherTool:
    needed = tool.inputSchema.get("required", ())
    arguments = [name if name in needed else f"{name}?" for name in tool.inputSchema["properties"]]
    sentence, _, _ = (tool.description or "").partition("\n")
    parts = {"name", "description", "inputSchema"}
    shown = tool.model_dump(mode="json", by_alias=True, include=parts) if whole else None
    return FurtherTool(name=tool.name, arguments=", ".join(arguments), sentence=sentence, definition=shown)


def _text(result: MoreToolsResult) -> str:
    lines = [f"- {tool.name}({tool.arguments}): {tool.sentence}{_definition(tool)}" for tool in result.tools]
    missing = [f"No further tool fits: {', '.join(result.missing)}."] if result.missing else []
    return "\n".join(["You can call these now:", *lines, *missing])


def _definition(tool: FurtherTool) -> str:
    return f"\n  {json.dumps(tool.definition, ensure_ascii=False)}" if tool.definition else ""
