"""Simple requests to a small model on this machine: `make eval-local MODEL=FILE.gguf`; `--story` for each night.

The ten are those by which the prompts of small models were written; `--fresh` are twenty others, in two languages.

llama.cpp's own server (the extra `local`) runs the model, and the whole assistant works with it over HTTP, as with any
other. Of each of ten requests it says whether the first call was right and was carried out, and how long the turn took.
Changes are approved as they are asked for, on a fresh drive each time. The story is one conversation: a first message,
its call, an approval, and a second turn; it fails unless the drive is changed and both turns end with an answer.
"""

import argparse
import asyncio
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from benchmarks.fixtures.recording import RecordedDrive, recorded_drive
from benchmarks.fixtures.table import print_table
from graph.build import build_graph
from graph.dependencies import GraphDependencies
from graph.events.sending import listening
from graph.messages.written import outcome_of
from graph.model_factory import open_models
from graph.settings import AgentSettings

CONTEXT: Final = 16_384
STARTED_WITHIN_SECONDS: Final = 300
THREADS: Final = 2
FILES: Final = {
    "/HR/Handbook.md": "# Handbook\n\nStaff get 25 days of holiday a year.\n\nThe notice period is thirty days.\n",
    "/Lease.md": "# Lease\n\nThe rent is 900 euros a month. The lease ends in March 2027.\n",
    "/Budget.csv": "item,amount\nrent,900\npower,120\n",
    "/合同.md": "# 合同\n\n租期到2027年3月为止，每月租金900元。\n",
}
SERVE: Final = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_ctx = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
params.use_jinja, params.n_parallel, params.cpuparams.n_threads = True, 1, int(sys.argv[4])
server = xllamacpp.Server(params)
while True:
    time.sleep(60)
"""

Right = Callable[[str, Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Asked:
    """A request, and what says of its first call whether it is right."""

    text: str
    is_right: Right
    file: str = ""


@dataclass
class Outcome:
    """The result of a request: its first call, whether that is right, the answer, the seconds, and the tokens."""

    asked: Asked
    call: str = ""
    is_right: bool = False
    answer: str = ""
    failed: bool = False
    seconds: float = 0.0
    tokens: Mapping[str, int] = field(default_factory=dict[str, int])


def _call(*names: str, **words: str) -> Right:
    """Return what accepts a call of one of these tools whose arguments have these words."""

    def is_right(name: str, args: Mapping[str, Any]) -> bool:
        return name in names and all(word.lower() in str(args.get(key, "")).lower() for key, word in words.items())

    return is_right


SEARCHES: Final = ("semantic_search_files", "search_files", "read_file")
REQUESTS: Final = (
    Asked("Make a folder called Trips", _call("create_folder", name="Trips")),
    Asked("What does the handbook say about holidays?", _call(*SEARCHES)),
    Asked("Move Lease.md to the folder HR", _call("move_item", item_id="Lease", folder_id="HR")),
    Asked("Rename Budget.csv to Budget 2026.csv", _call("rename_item", item_id="Budget", name="Budget 2026.csv")),
    Asked("Share Lease.md with bob@example.com", _call("share_item", item_id="Lease", email="bob@example.com")),
    Asked("Delete Budget.csv", _call("trash_item", item_id="Budget")),
    Asked("When does the lease end?", _call(*SEARCHES)),
    Asked("新建一个名为“照片”的文件夹", _call("create_folder", name="照片")),
    Asked("合同里的租金是多少？", _call(*SEARCHES)),
    Asked("In this document, change 25 days to 30 days", _call("patch_file", "write_file"), "/HR/Handbook.md"),
)
FRESH: Final = (
    Asked("I need a new folder for my receipts", _call("create_folder", name="receipts")),
    Asked("Put the budget file into HR", _call("move_item", item_id="Budget", folder_id="HR")),
    Asked("What's the monthly rent?", _call(*SEARCHES)),
    Asked("Get rid of Lease.md", _call("trash_item", item_id="Lease")),
    Asked("Let anna@example.org read the handbook", _call("share_item", item_id="Handbook", email="anna@example.org")),
    Asked("Call the lease file Tenancy.md from now on", _call("rename_item", item_id="Lease", name="Tenancy.md")),
    Asked("Which files do I have here?", _call("list_folder")),
    Asked(
        "Make a note called Shopping.md that says: milk, bread, eggs",
        _call("create_file", name="Shopping.md", content="milk"),
    ),
    Asked("How long is the notice period?", _call(*SEARCHES)),
    Asked("Replace 900 with 950 in this file", _call("patch_file", "write_file"), "/Lease.md"),
    Asked("把 Lease.md 放到 HR 文件夹里", _call("move_item", item_id="Lease", folder_id="HR")),
    Asked("删掉 Budget.csv", _call("trash_item", item_id="Budget")),
    Asked("把合同.md 改名为 租房合同.md", _call("rename_item", item_id="合同", name="租房合同.md")),
    Asked("合同什么时候到期？", _call(*SEARCHES)),
    Asked("请把合同.md 分享给 li@example.com", _call("share_item", item_id="合同", email="li@example.com")),
    Asked("建一个叫“发票”的文件夹", _call("create_folder", name="发票")),
    Asked("员工每年有多少天假期？", _call(*SEARCHES)),
    Asked("写一个文件 待办.md，内容是：买菜", _call("create_file", name="待办.md", content="买菜")),
    Asked("有没有关于预算的文件？", _call("semantic_search_files", "search_files")),
    Asked("把这份合同里的900元改成950元", _call("patch_file", "write_file"), "/合同.md"),
)


@contextmanager
def served(model: Path) -> Generator[str]:
    """Run llama.cpp's server with the model until the end of the block; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", SERVE, str(model), str(port), str(CONTEXT), str(THREADS)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(f"http://127.0.0.1:{port}/health", process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTED_WITHIN_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit("The model's server ended at once. Is the extra `local` installed, and is the file a GGUF?")
        try:
            if httpx.get(url, timeout=1).is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    sys.exit("The model's server did not start in time.")


@asynccontextmanager
async def _filled(directory: Path) -> AsyncGenerator[tuple[RecordedDrive, Mapping[str, str]]]:
    async with recorded_drive(directory) as recorded:
        yield recorded, {path: await recorded.put(path, text) for path, text in FILES.items()}


async def ask(url: str, name: str, asked: Asked) -> Outcome:
    """Put one request to the assistant on a fresh drive."""
    async with _assistant(url, name) as (graph, recorded, ids):
        place = {"file_id": ids[asked.file]} if asked.file else {}
        return await _run(graph, recorded, asked, place)


@asynccontextmanager
async def _assistant(url: str, name: str) -> AsyncGenerator[tuple[Any, RecordedDrive, Mapping[str, str]]]:
    """Yield the graph with the model on a fresh drive, the drive, and its files' ids by their paths."""
    settings = AgentSettings.model_validate({"model": name, "openai_base_url": url})
    with tempfile.TemporaryDirectory() as directory:
        async with _filled(Path(directory)) as (recorded, ids), open_models(settings) as models:
            await recorded.drive.ingester.drain()
            deps = GraphDependencies(
                models=models.models,
                choices=models.choices,
                connections=recorded.pool,
                settings=settings,
                checkpointer=InMemorySaver(),
                store=InMemoryStore(),
            )
            yield build_graph(deps), recorded, ids


async def tell_story(url: str, name: str) -> list[Outcome]:
    """Return the outcomes of two turns of one conversation; right are those that ended as the person wanted."""
    first, second = Asked("Make a folder called Trips", _call("create_folder")), Asked("Thank you!", _call())
    async with _assistant(url, name) as (graph, recorded, _):
        outcomes = [await _run(graph, recorded, one, {}) for one in (first, second)]
        listed = await recorded.drive.files.list_folder(recorded.actor, "root")
    outcomes[0].is_right = any(item.name == "Trips" for item in listed.items) and bool(outcomes[0].answer)
    outcomes[1].is_right = bool(outcomes[1].answer) and not outcomes[1].failed
    return outcomes


async def _run(graph: Any, recorded: RecordedDrive, asked: Asked, place: Mapping[str, str]) -> Outcome:
    outcome, message, begun = Outcome(asked), HumanMessage(asked.text, id=str(uuid4())), time.monotonic()
    config: Any = {"configurable": {"thread_id": "1"}}
    step: Any = {"messages": [message], "place": dict(place)}
    try:
        while step is not None:
            with listening(lambda _: None):
                await graph.ainvoke(step, config, context=recorded.who(str(message.id)), version="v2")
            state = await graph.aget_state(config)
            waiting = [one.value for task in state.tasks for one in task.interrupts]
            step = Command(resume=_approved(waiting[0])) if waiting else None
    except Exception as error:  # noqa: BLE001 - a turn that fails is a result
        outcome.answer, outcome.failed = repr(error), True
    state = await graph.aget_state(config)
    outcome.seconds = time.monotonic() - begun
    return _judged(outcome, state.values)


def _judged(outcome: Outcome, values: Mapping[str, Any]) -> Outcome:
    answers = [message for message in values.get("messages", ()) if isinstance(message, AIMessage)]
    calls = [call for answer in answers for call in answer.tool_calls]
    if calls:
        outcome.call = f"{calls[0]['name']} {calls[0]['args']}"
        is_done = any(
            isinstance(message, ToolMessage)
            and message.tool_call_id == calls[0]["id"]
            and outcome_of(message) == "done"
            for message in values["messages"]
        )
        outcome.is_right = is_done and outcome.asked.is_right(calls[0]["name"], calls[0]["args"])
    outcome.answer = outcome.answer or (answers[-1].text if answers else "")
    outcome.tokens = dict((values.get("turn") or {}).get("usage") or {})
    return outcome


def _approved(waiting: Mapping[str, Any]) -> dict[str, Any]:
    actions = waiting.get("actions") or []
    return {"decisions": [{"tool_call_id": one["tool_call_id"], "type": "approve"} for one in actions]}


async def measure(url: str, name: str, requests: Sequence[Asked] = REQUESTS) -> list[Outcome]:
    """Return the outcome of each request, one after the other, and print each as soon as it is known."""
    outcomes: list[Outcome] = []
    for one in requests:
        outcomes.append(await ask(url, name, one))
        print(" | ".join(_row(outcomes[-1])), flush=True)
    return outcomes


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each request, and the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--story", action="store_true", help="one conversation of two turns; fails if it goes wrong")
    parser.add_argument("--fresh", action="store_true", help="twenty requests by which no prompt was written")
    options = parser.parse_args(arguments)
    model: Path = options.model
    with served(model) as url:
        if options.story:
            _print_story(asyncio.run(tell_story(url, model.name)))
            return
        outcomes = asyncio.run(measure(url, model.name, FRESH if options.fresh else REQUESTS))
    print_table(f"First calls of {model.name}", _HEADER, [_row(one) for one in outcomes])
    print(f"\n{sum(one.is_right for one in outcomes)} of {len(outcomes)} first calls are right.")


def _print_story(outcomes: Sequence[Outcome]) -> None:
    print_table("A conversation with a local model", _HEADER, [_row(one) for one in outcomes])
    if not all(one.is_right for one in outcomes):
        sys.exit("The story went wrong.")


_HEADER: Final = ["request", "right", "first call", "answer", "s", "read", "written"]
_SHOWN: Final = 60


def _row(outcome: Outcome) -> list[str]:
    tokens = [f"{outcome.tokens.get(key, 0):,}" for key in ("input_tokens", "output_tokens")]
    said = [" ".join(text.split())[:_SHOWN] for text in (outcome.asked.text, outcome.call, outcome.answer)]
    return [said[0], "yes" if outcome.is_right else "no", *said[1:], f"{outcome.seconds:.0f}", *tokens]


if __name__ == "__main__":
    main()
