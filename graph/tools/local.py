"""The assistant's own tools, and one toolset for both kinds: nodes call either kind alike."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.store.base import BaseStore
from mcp.types import CallToolResult, TextContent
from typing_extensions import override

from graph.clock import Clock
from graph.drive.connections import (
    META_DRY_RUN,
    META_EFFECT,
    META_FOREIGN,
    META_IDEMPOTENCY_KEY,
    META_RUN_ID,
    META_TIME_ZONE,
    OnProgress,
    Toolbox,
)
from graph.messages.stored_results import ResultStore
from graph.policy.matrix import Rule
from graph.policy.tools import ToolFacts, Vouched
from graph.servers.offered import NOTHING, OfferedTools

META_UNANSWERED: Final = "the assistant's own tools are called by the graph"


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context of the assistant's tools in a run: person and thread come from the run, never from arguments."""

    toolbox: Toolbox
    store: BaseStore | None
    result_store: ResultStore | None
    user_id: str
    thread_id: str
    clock: Clock
    time_zone: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One call: its arguments fit the schema. In the service, `run_id` is the id of the message too."""

    args: Mapping[str, Any]
    context: ToolContext
    run_id: str
    key: str


Answer = Callable[[Request], Awaitable[CallToolResult]]


@dataclass(frozen=True, slots=True)
class LocalTool:
    """A tool of the assistant's own. `schema` is that of its arguments, in JSON; `effect_of` returns a call's effect.

    `vouched` says whether the person's newest message asks for the call, of a tool that changes the facts about them.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    answer: Answer
    rule: Rule
    effect_of: Callable[[Request], Awaitable[Mapping[str, Any]]] | None = None
    vouched: Vouched | None = None

    @property
    def facts(self) -> ToolFacts:
        """Return the facts for the policy."""
        reads = self.rule.risk == "read"
        return ToolFacts(self.name, self.rule, read_only=reads, destructive=not reads, vouched=self.vouched)

    def as_tool(self) -> BaseTool:
        """Return the tool as models see it."""
        return StructuredTool(
            name=self.name,
            description=self.description,
            args_schema=dict(self.schema),
            coroutine=_never,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Toolset(Toolbox):
    """The drive's tools and the assistant's own, by name; the drive's come first."""

    context: ToolContext = field(kw_only=True)
    local: Mapping[str, LocalTool] = field(kw_only=True)
    outside: OfferedTools = field(kw_only=True, default=NOTHING)

    @classmethod
    def of(cls, context: ToolContext, offered: Sequence[LocalTool], outside: OfferedTools = NOTHING) -> "Toolset":
        """Return the box with these tools beside those of the drive, whose names nobody else can take."""
        merged = _merged.setdefault(context.toolbox, {})
        names = tuple(tool.name for tool in offered)
        if names not in merged:
            merged[names] = _merge(context.toolbox, offered)
        tools, facts, local = merged[names]
        if outside.tools:
            new = [name for name in outside.tools if name not in tools]
            tools = {**tools, **{name: outside.tools[name] for name in new}}
            facts = {**facts, **{name: outside.facts[name] for name in new}}
        return cls(tools, context.toolbox.send, facts, context=context, local=local, outside=outside)

    def allowed(self, tools: frozenset[str]) -> frozenset[str]:
        """Return the tools of the drive among these that the assistant may use, and those of the person's servers."""
        chosen = self.outside.choice.drive_tools
        return (tools if chosen is None else tools & chosen) | self.outside.tools.keys()

    @override
    async def call(
        self, name: str, args: Mapping[str, Any], *, meta: Mapping[str, Any], on_progress: OnProgress | None = None
    ) -> CallToolResult:
        """Call a tool that is in the box. Raises `DriveUnavailableError` if the drive gives no answer."""
        tool = self.local.get(name)
        if tool is None:
            meta = {**meta, META_TIME_ZONE: self.context.time_zone} if self.context.time_zone else meta
            return await self.context.toolbox.call(name, args, meta=meta, on_progress=on_progress)
        request = Request(args, self.context, str(meta.get(META_RUN_ID, "")), str(meta.get(META_IDEMPOTENCY_KEY, "")))
        if not meta.get(META_DRY_RUN):
            return await tool.answer(request)
        effect = await tool.effect_of(request) if tool.effect_of else {}
        return CallToolResult.model_validate({"content": [], "_meta": {META_EFFECT: effect}})


_Merged = tuple[Mapping[str, BaseTool], Mapping[str, ToolFacts], Mapping[str, LocalTool]]

_merged: Final = WeakKeyDictionary[Toolbox, dict[tuple[str, ...], _Merged]]()
"""The merged tools of each session: every node of every turn needs them."""


def _merge(toolbox: Toolbox, offered: Sequence[LocalTool]) -> _Merged:
    local = {tool.name: tool for tool in offered if tool.name not in toolbox.tools}
    tools = {**toolbox.tools, **{name: tool.as_tool() for name, tool in local.items()}}
    facts = {**toolbox.facts, **{name: tool.facts for name, tool in local.items()}}
    return tools, facts, local


async def _never(**_args: Any) -> str:
    raise NotImplementedError(META_UNANSWERED)


def text_result(text: str, data: Mapping[str, Any] | None = None) -> CallToolResult:
    """Return a tool's answer: a short text, and data."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structuredContent=dict(data) if data else None,
        _meta={META_FOREIGN: []},
    )


def error_result(code: str, sentence: str) -> CallToolResult:
    """Return a tool's refusal."""
    told = TextContent(type="text", text=f"{code}: {sentence}")
    data = {"code": code, "message": sentence}
    return CallToolResult(content=[told], structuredContent=data, isError=True, _meta={META_FOREIGN: []})
