"""The size of requests in o200k tokens: `python -m benchmarks.agent.prompts`.

On a small drive with a scripted model: the first request of a turn of each kind, what tools and results take of it, how
much of it is the same for everybody (tools and prompt come first), and how much of a request a service's cache has
already from the one before, while the clock moves on. Services cache the beginning of a request: OpenAI's order is
tools, system message, messages; that of Qwen's and Hermes' templates system message, tools, messages.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, Final

from benchmarks.fixtures.recording import Line, RecordedDrive, Request, recorded_drive
from benchmarks.fixtures.table import print_table
from benchmarks.fixtures.tokens import NAME, count, encoding
from graph.citations.sources import without_addresses
from graph.drive.sentences import localize
from graph.limits.limits import result_text
from graph.messages.compact_results import compact_result
from graph.messages.written import text_of
from graph.prompts import compact

TEXT: Final = "The notice period for tenants is thirty days, from the first of the month on. "
FILES: Final = ("Lease.md", "Budget.csv", "Handbook.md", "合同.md", "旅行计划.md", "Recipes.md", "Ideas.md", "Taxes.md")
FOLDERS: Final = ("Work", "Home", "照片", "Archive")
CHANGES: Final = 50
AIMS: Final[Mapping[str, int]] = dict.fromkeys(("drive_agent", "search_agent", "document_agent"), 2_750)
ACTS_AIM, ACTS_REUSE_AIM = 16_000, 0.8
SAID: Final = {
    "search_agent": "search my files for the notice period",
    "drive_agent": "create a folder called Trips",
    "document_agent": "summarise this document",
}
ROLE: Final = re.compile(r"<role>\nYou are now the (\w+) agent")
TOOLS_FIRST, SYSTEM_FIRST = "tools, system", "system, tools"
ORDERS: Final = (TOOLS_FIRST, SYSTEM_FIRST)
REUSE_AIMS: Final = {
    "the same specialist": 0.9,
    "the same, a document": 0.9,
    "after a change": 0.85,
    "another specialist": 0.6,
    "a plan's next step": 0.8,
}
RESULT_AIMS: Final = {"a name hit": 50, "read_file, 229 characters": 150}


@dataclass(frozen=True)
class Cost:
    """The tokens of one request; `static` are those before anything of the person or the moment."""

    whole: int
    tools: int
    system: int
    messages: int
    static: int


@dataclass(frozen=True)
class Measured:
    """All that is measured: costs by kind of request, results as (structured, compact), shares of second turns."""

    requests: Mapping[str, Cost]
    results: Mapping[str, tuple[int, int]]
    reused: Mapping[str, Mapping[str, float]]
    acts: "Acts"


@dataclass(frozen=True)
class Acts:
    """Three small acts in one conversation: the requests, their input tokens in all, and by order the share reused.

    The first request of the conversation counts: of it nothing is reused.
    """

    requests: int
    tokens: int
    reused: Mapping[str, float]


class MovingClock:
    """Begins on a fixed day, and is a minute later whenever it is asked."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self._now += timedelta(minutes=1)
        return self._now


async def measure(directory: Path) -> Measured:
    """Record on a fresh drive in the directory, and count."""
    async with recorded_drive(directory, MovingClock()) as recorded:
        document = await _fill(recorded)
        firsts = await _record(recorded, document)
        results = {name: await _result(recorded, *asked) for name, asked in _CALLS.items()}
        pairs = await _follow_ups(recorded, document)
        acts = _acts_of(await _act(recorded))
    reused = {name: {order: _reused(*pair, order) for order in ORDERS} for name, pair in pairs.items()}
    return Measured({kind: cost_of(request) for kind, request in firsts.items()}, results, reused, acts)


async def _fill(recorded: RecordedDrive) -> str:
    for folder in FOLDERS:
        await recorded.put(f"/{folder}/notes.md", TEXT)
    for name in FILES:
        await recorded.put(f"/{name}", TEXT)
    for number in range(CHANGES):
        await recorded.put(f"/Archive/{number:02} report.md", TEXT)
    return await recorded.put("/Reading/Notice.md", (TEXT * 3)[:229])


_CALLS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "a name hit": ("search_files", {"query": "Handbook", "limit": 1, "kind": "file"}),
    "read_file, 229 characters": ("read_file", {"file_id": "/Reading/Notice.md"}),
    "list_folder, 51 items": ("list_folder", {"folder_id": "/Archive"}),
    f"list_changes, {CHANGES}": ("list_changes", {"limit": CHANGES}),
    "get_file_info": ("get_file_info", {"item_id": "/Lease.md"}),
    "create_folder": ("create_folder", {"name": "New"}),
}


async def _result(recorded: RecordedDrive, tool: str, args: Mapping[str, Any]) -> tuple[int, int]:
    box = await recorded.pool.toolbox(recorded.who())
    found = await box.call(tool, args, meta={})
    data = without_addresses(localize(found.structuredContent, "en"))
    whole = result_text(text_of(found), data, 1_000_000)
    return count(whole), count(compact_result(whole))


async def _record(recorded: RecordedDrive, document: str) -> dict[str, Request]:
    recorded.model.steps = [("drive_agent", "Create the folder Taxes"), ("drive_agent", "Move Lease.md to Taxes")]
    asked = await recorded.say("route", "hmm, and what of the other thing then")
    asked += await recorded.say("plan", "create a folder Taxes, move Lease.md there and share it with bob@example.com")
    firsts: dict[str, Request] = {}
    for request in asked:
        firsts.setdefault(kind_of(request), request)
    for kind, message in SAID.items():
        place = {"file_id": document} if kind == "document_agent" else {}
        first = await recorded.say(f"first {kind}", message, **place)
        firsts[kind] = next(request for request in first if kind_of(request) == kind)
    return firsts


async def _follow_ups(recorded: RecordedDrive, document: str) -> dict[str, tuple[Request, Request]]:
    """Return pairs of requests by what came between them: the last one before it, and the first one after it."""

    async def pair(thread: str, one: str, then: str, *script: Line, **place: Any) -> tuple[Request, Request]:
        before = await recorded.say(thread, one, *script, **place)
        return before[-1], (await recorded.say(thread, then, **place))[0]

    made: list[Line] = [("create_folder", {"name": "Trips"}), "I made the folder Trips."]
    searched: list[Line] = [("search_files", {"query": "notice"}), "It is thirty days."]
    return {
        "the same specialist": await pair("same", SAID["search_agent"], "search my files for the rent", *searched),
        "the same, a document": await pair("text", SAID["document_agent"], "translate this document", file_id=document),
        "after a change": await pair("change", SAID["drive_agent"], "list my files", *made),
        "another specialist": await pair("other", SAID["search_agent"], "create a folder called Rent", *searched),
        "a plan's next step": await _next_step(recorded),
    }


async def _next_step(recorded: RecordedDrive) -> tuple[Request, Request]:
    asked = await recorded.say("steps", "create a folder Dues, move Taxes.md there and share it with bob@example.com")
    steps = [request for request in asked if kind_of(request) == "drive_agent"]
    return steps[0], steps[-1]


async def _act(recorded: RecordedDrive) -> list[Request]:
    """Return the requests of three turns, each with one call: a folder, a move, a share."""
    made = ("create_folder", {"name": "Contracts"}), "I made the folder Contracts."
    moved = ("move_item", {"item_id": "/Recipes.md", "folder_id": "/Contracts"}), "Recipes.md is in Contracts now."
    shared = ("share_item", {"item_id": "/Contracts", "email": "bob@example.com"}), "Bob can read it now."
    return [
        *await recorded.say("acts", "make a folder called Contracts", *made),
        *await recorded.say("acts", "move Recipes.md to Contracts", *moved),
        *await recorded.say("acts", "share Contracts with bob@example.com", *shared),
    ]


def _acts_of(asked: Sequence[Request]) -> Acts:
    whole = [cost_of(request).whole for request in asked]
    pairs = list(pairwise(asked))
    again = {
        order: sum(_reused(*pair, order) * cost for pair, cost in zip(pairs, whole[1:], strict=True))
        for order in ORDERS
    }
    return Acts(len(asked), sum(whole), {order: share / sum(whole) for order, share in again.items()})


def kind_of(request: Request) -> str:
    """Return whose request it is, by its tools or by its system message."""
    names = {str(tool["function"]["name"]) for tool in request.get("tools") or ()}
    if names & {"RouteDecision", "TaskPlan", "RevisedPlan"}:
        return "route" if "RouteDecision" in names else "plan"
    said = " ".join(str(message["content"]) for message in request["messages"] if message["role"] == "user")
    roles = ROLE.findall(said)
    return f"{roles[-1].lower()}_agent" if roles else ""


def cost_of(request: Request) -> Cost:
    """Count what a request takes."""
    system, *others = request["messages"]
    tools = count(compact(request.get("tools") or []))
    said = str(system["content"])
    parts = [count(said), sum(count(_wire(message)) for message in others)]
    return Cost(tools + sum(parts), tools, *parts, static=tools + count(said.partition("\n\n<")[0]))


def _reused(first: Request, second: Request, order: str) -> float:
    """Return the share of the second request that begins as the first did, in tokens."""
    before, after = _wired(first, order), _wired(second, order)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    return count(after[:same]) / count(after)


def _wired(request: Request, order: str) -> str:
    tools, messages = compact(request.get("tools") or []), [*map(_wire, request["messages"])]
    return "\n".join([tools, *messages] if order == TOOLS_FIRST else [messages[0], tools, *messages[1:]])


def _wire(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    return f"{message['role']}\n{message['content'] or ''}" + (json.dumps(calls, ensure_ascii=False) if calls else "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    del arguments
    with tempfile.TemporaryDirectory() as directory:
        found = asyncio.run(measure(Path(directory)))
    by = f"tiktoken's {NAME}" if encoding() else f"rules fitted to {NAME}, whose vocabulary is not on this machine"
    print_table(f"Requests: tokens, by {by}", _REQUEST_HEADER, _request_rows(found))
    print_table(
        "Results: tokens", ["", "structured", "for models", "aim"], [_row(*one) for one in found.results.items()]
    )

    print_table("Three small acts: tokens", ["", "found", "aim"], _act_rows(found.acts))
    print_table("Reused of the next request", ["", *ORDERS, "aim"], [_reuse_row(*one) for one in found.reused.items()])


_REQUEST_HEADER: Final = ["first of a turn", "whole", "tools", "system", "messages", "static", "aim"]


def _reuse_row(name: str, shares: Mapping[str, float]) -> list[str]:
    return [name, *(f"{shares[order]:.0%}" for order in ORDERS), f"{REUSE_AIMS[name]:.0%}"]


def _act_rows(acts: Acts) -> list[list[str]]:
    shares = [[f"reused, {order}", f"{share:.0%}", f"{ACTS_REUSE_AIM:.0%}"] for order, share in acts.reused.items()]
    return [["requests", str(acts.requests), ""], ["input", f"{acts.tokens:,}", f"{ACTS_AIM:,}"], *shares]


def _request_rows(found: Measured) -> list[list[str]]:
    rows: list[list[str]] = []
    for kind, cost in found.requests.items():
        numbers = [cost.whole, cost.tools, cost.system, cost.messages, cost.static]
        aim = AIMS.get(kind)
        rows.append([kind, *(f"{number:,}" for number in numbers), f"{aim:,}" if aim else ""])
    return rows


def _row(name: str, tokens: tuple[int, int]) -> list[str]:
    structured, shown = tokens
    return [name, f"{structured:,}", f"{shown:,}", f"{RESULT_AIMS[name]:,}" if name in RESULT_AIMS else ""]


if __name__ == "__main__":
    main()
