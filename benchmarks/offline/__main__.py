"""`python -m benchmarks.offline`: requests in people's words to the built-in model, and how many it gets right.

The rows of `held_out` are not printed, only their totals: nobody writes rules by them.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import httpx

from benchmarks.evaluation.conversation import events
from benchmarks.evaluation.drive import EvaluatedDrive, new_person
from benchmarks.evaluation.task import Expectation, Solution, Task
from benchmarks.fixtures.serving import serving
from benchmarks.fixtures.table import print_table
from benchmarks.offline.judging import VERDICTS, Verdict, verdict
from benchmarks.offline.requests import HALVES, HELD_OUT, NONE, Request, files_of, load_requests
from graph.offline.conversation import READING
from graph.settings import OFFLINE, AgentSettings

ZONES = {"en": "Europe/Berlin", "zh": "Asia/Shanghai"}
Judged = tuple[Request, Verdict]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requests and print the verdicts; return 0 whatever they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=HALVES, action="append", help="all of them unless given")
    parser.add_argument("--only", default="", help="only rows whose ids begin so")
    given = parser.parse_args(arguments)
    began = time.process_time()
    for half in given.half or HALVES:
        requests = [one for one in load_requests(half) if one.id.startswith(given.only)]
        with serving(AgentSettings(model=OFFLINE), embedding_model="local") as owner, ExitStack() as people:
            judged = list(_run(owner, people, requests, shown=half != HELD_OUT))
        _print(judged, half)
    print(f"{time.process_time() - began:.0f} s of CPU, with the drives' indexing")
    return 0


def _run(owner: httpx.Client, people: ExitStack, requests: Sequence[Request], *, shown: bool) -> Iterator[Judged]:
    """Ask each request; those that change something, or go on, have a person and a drive of their own."""
    shared: dict[str, _Person] = {}
    for thread in _threads(requests):
        drive = thread[0].drive
        if thread[0].thread or thread[0].changes != NONE or drive not in shared:
            person = _Person(people.enter_context(new_person(owner)), drive)
            if not thread[0].thread and thread[0].changes == NONE:
                shared[drive] = person
        else:
            person = shared[drive]
        for request, answer, proposed in person.talk(thread):
            found = verdict(request, answer, proposed)
            if shown:
                print(f"{request.id} {found}: {request.message} [{request.place}]", *proposed, sep="\n    ", flush=True)
                print("    " + answer[:700].replace("\n", "\n    "), flush=True)
            if request.judged:
                yield request, found


def _threads(requests: Sequence[Request]) -> list[list[Request]]:
    found: dict[str, list[Request]] = {}
    for one in requests:
        found.setdefault(one.thread or one.id, []).append(one)
    return list(found.values())


class _Person:
    """A person with a drive that is seeded and indexed."""

    def __init__(self, drive: EvaluatedDrive, name: str) -> None:
        self._drive = drive
        nothing = Solution(agent="", calls=())
        files = files_of(name)
        drive.seed(Task(id=name, files=files, requests=("-",), approve="all", expect=Expectation(), solution=nothing))
        self._paths = {str(item["id"]): path for path, item in drive.items()}
        while self._is_indexing():
            time.sleep(0.05)

    def _is_indexing(self) -> bool:
        state = self._drive.client.get("/api/drive/index").raise_for_status().json()
        return bool(state["summary"]["pending"] + state["summary"]["indexing"] + state["awaiting_vectors"])

    def talk(self, thread: Sequence[Request]) -> Iterator[tuple[Request, str, list[str]]]:
        """Send each message, approve each change that is asked for, and yield the answer and the proposed changes."""
        thread_id = ""
        for request in thread:
            body = {"message": request.message, "time_zone": ZONES[request.language], **_place(request.place)}
            answer, proposed = "", list[str]()
            with self._drive.client.stream(
                "POST", "/api/chat", json=body | ({"thread_id": thread_id} if thread_id else {})
            ) as response:
                for event in events(response.raise_for_status().iter_lines()):
                    thread_id = event.get("thread_id") or thread_id
                    answer += event["text"] if event["type"] == "content" else ""
                    if event["type"] == "tool_call_start" and event["name"] not in READING:
                        proposed.append(self._written(event))
                    if event["type"] == "approval_needed":
                        self._approve(event)
            yield request, answer, proposed

    def _written(self, event: Mapping[str, Any]) -> str:
        """Return a call as text, with paths in the place of ids."""
        text = f"{event['name']} {json.dumps(event['args'], ensure_ascii=False)}"
        for key, path in self._paths.items():
            text = text.replace(key, path)
        return text

    def _approve(self, event: Mapping[str, Any]) -> None:
        decisions = [{"tool_call_id": one["tool_call_id"], "type": "approve"} for one in event["actions"]]
        address = f"/api/approvals/{event['approval_id']}"
        self._drive.client.post(address, json={"decisions": decisions}).raise_for_status()


def _place(place: str) -> Mapping[str, Any]:
    kind, _, paths = place.partition(":")
    if kind == "attach":
        named = [("file_id" if "." in path.rpartition("/")[2] else "folder_id", path) for path in paths.split(",")]
        return {"attachments": [{key: path} for key, path in named]}
    return {"context": {f"{kind}_id": paths}} if kind else {}


def _print(judged: Sequence[Judged], half: str) -> None:
    sorts = [*dict.fromkeys(request.sort for request, _ in judged), "all"]
    rows: list[list[str]] = []
    for sort in sorts:
        counted = Counter(found for request, found in judged if sort in {request.sort, "all"})
        rows.append([sort, str(sum(counted.values())), *(str(counted[one]) for one in VERDICTS)])
    print_table(f"The built-in model, {half.replace('_', ' ')} set", ["", "requests", *VERDICTS], rows)


if __name__ == "__main__":
    sys.exit(main())
