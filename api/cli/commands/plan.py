"""`drive-agent plan`: show the plan of a conversation, edit, pause, resume and stop it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from api.cli.failure import CommandError
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, print_json, visible_line
from api.cli.texts import text, word

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import ServiceClient

    Plan = dict[str, Any]

MARKS = {"completed": "✓", "in-progress": "…", "pending": " ", "failed": "✗", "skipped": "-"}


def show(arguments: Namespace) -> int:
    """Print the plan with the status of each step."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        plan = client.get(_path(arguments.thread))
    return _print(plan, arguments, terminal)


def change(arguments: Namespace) -> int:
    """Pause, resume or stop it."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        plan = client.post(f"{_path(arguments.thread)}/{arguments.command}")
    if not arguments.json and plan["status"] == "running":
        terminal.note(text(f"plan_{arguments.command}"))
    return _print(plan, arguments, terminal)


def edit(arguments: Namespace) -> int:
    """Remove or reword one step that has not begun, or take the whole list as JSON from standard input."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        plan = client.get(_path(arguments.thread))
        steps = _from_input() if arguments.stdin else _one_changed(plan, arguments)
        plan = _patched(client, arguments.thread, plan["version"], steps)
    return _print(plan, arguments, terminal)


def _patched(client: ServiceClient, thread: str, version: int, steps: list[Any]) -> Plan:
    response = client.send("PATCH", _path(thread), json={"version": version, "steps": steps})
    return response.json()


def _one_changed(plan: Plan, arguments: Namespace) -> list[Any]:
    if not 1 <= arguments.step <= len(plan["steps"]):
        raise CommandError.of("no_step", number=arguments.step)
    chosen = plan["steps"][arguments.step - 1]
    words = {"title": arguments.title, "instruction": arguments.instruction}
    edits = {name: said for name, said in words.items() if said}
    if not edits and not arguments.remove:
        raise CommandError.of("step_unchanged")
    pending = [step for step in plan["steps"] if step["status"] == "pending" and not step["attempts"]]
    if chosen not in pending:
        raise CommandError.of("step_begun", number=arguments.step)
    remaining = [step for step in pending if not (arguments.remove and step is chosen)]
    return [{"id": step["id"], **(edits if step is chosen else {})} for step in remaining]


def _from_input() -> list[Any]:
    try:
        steps = json.loads(sys.stdin.read())
    except ValueError as error:
        raise CommandError.of("steps_no_json") from error
    if not isinstance(steps, list):
        raise CommandError.of("steps_no_list")
    return steps


def _print(plan: Plan, arguments: Namespace, terminal: Terminal) -> int:
    if arguments.json:
        print_json(plan)
        return 0
    status = word("plan", plan["status"])
    terminal.say(text("plan_version", status=status, version=plan["version"]), "bold")
    for number, step in enumerate(plan["steps"], 1):
        mark, who = MARKS[step["status"]], word("agent", step["agent"]).removesuffix("_agent")
        beside = text("plan_beside") if step["parallel"] else ""
        terminal.say(f"{number:>3} {mark} {visible_line(step['title'])}  [{who}]{beside}")
        if step.get("error"):
            terminal.say(f"      {visible_line(step['error'])}", "yellow")
    return 0


def _path(thread: str) -> str:
    return f"/api/threads/{quote(thread, safe='')}/plan"
