"""The next message of the offline model: a specialist for a message, the steps of a plan, or an answer or calls."""

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Literal
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, ToolCall

from graph.offline.conversation import Conversation, items_in, read_conversation
from graph.offline.documents import lent_answer
from graph.offline.followup import follow_up, is_fragment
from graph.offline.forms import filled
from graph.offline.replay import CallsNeededError, Replay, Reply, Request, StoppedError, UnresolvedError
from graph.offline.scripts import changing, editing, finding, listing, organising, reading
from graph.offline.scripts.task import Task
from graph.offline.understanding.arguments import FACTS
from graph.offline.understanding.intent import CHANGING, EDITING, Intent
from graph.offline.understanding.requests import memory_intent, understand
from graph.offline.wording import code, path_of, say
from graph.routing.many_files import of_each
from graph.routing.route import route_reason
from graph.state import AGENTS, AgentName

OWN: Final = "mcp__"
"""Tools of a person's own servers begin with it."""
SURE, UNSURE, MAX_STEPS = 0.92, 0.2, 8
LEADING: Final[tuple[AgentName, ...]] = ("drive_agent", "document_agent", "search_agent")
READING: Final = frozenset({"compare", "find", "lookup", "ask", "ask_next", "read", "summarise", "map_files"})
MAKES: Final = frozenset({"create_folder", "create_file", "save_summary", "rename"})


def decide(conversation: Conversation) -> dict[str, Any]:
    """Return the arguments of `RouteDecision`."""
    language, last, asked = conversation.language, conversation.sections.last_agent, conversation.asked
    intents = understand(asked, file_open=conversation.sections.shows_file)
    agents = {"drive_agent"} if memory_intent(asked) else {agent_for(intent) for intent in intents}
    leads, why = next((agent for agent in LEADING if agent in agents), "drive_agent"), ""
    # Several requests, at least one of which changes something, are done step by step.
    several = len(intents) > 1 and any(intent.action in CHANGING for intent in intents)
    if not memory_intent(asked) and last in AGENTS and "ai: " in conversation.sections.conversation:
        leads, why = (last, "sticky") if is_fragment(intents, asked) else (leads, "")
    why = why or ("fallback" if not agents else "plan" if several and not memory_intent(asked) else leads)
    confidence = UNSURE if why == "fallback" else SURE
    reason = route_reason(why, language)
    return {"agent": leads, "needs_plan": why == "plan", "confidence": confidence, "reason": reason}


def agent_for(intent: Intent) -> AgentName:
    """Return the specialist that has the tools for an intent."""
    if intent.action in EDITING:
        return "document_agent"
    if intent.action not in READING:
        return "drive_agent"
    opened = intent.action in {"read", "summarise"} and intent.target and intent.target.form == "open"
    return "document_agent" if opened else "search_agent"


def plan(conversation: Conversation) -> dict[str, Any]:
    """Return the arguments of `TaskPlan`: one step for each request, in the person's words and order."""
    asked = conversation.asked
    each = of_each(asked)
    intents = understand(asked, file_open=conversation.sections.shows_file)[:MAX_STEPS]
    if each is not None:
        return {"steps": [_step("1", asked, "search_agent") | {"kind": "map", "folder": finding.folder_of(each).text}]}
    steps = [
        _step(str(number), intent.said[:1].upper() + intent.said[1:], agent_for(intent))
        | {"depends_on": _needed(intents[: number - 1], intent)}
        for number, intent in enumerate(intents, 1)
    ]
    return {"steps": steps or [_step("1", asked, decide(conversation)["agent"])]}


def _step(key: str, said: str, agent: str) -> dict[str, Any]:
    return {"id": key, "title": " ".join(said.split())[:60] or "…", "agent": agent, "instruction": said or "…"}


def _needed(earlier: Sequence[Intent], intent: Intent) -> list[str]:
    """Return the ids of the earlier steps that make something that this one names or points to."""
    refs = [ref for ref in (intent.target, intent.destination) if ref]
    points = any(ref.is_pronoun or ref.form == "summary" for ref in refs)
    points = points or (intent.target is None and intent.action not in MAKES)
    makers = [(str(at), one.names) for at, one in enumerate(earlier, 1) if one.action in MAKES]
    named = [at for at, names in makers if any(name and name in intent.said for name in names)]
    return named or ([str(len(earlier))] if points and earlier else [])


def revise(conversation: Conversation) -> dict[str, Any]:
    """Return the arguments of `RevisedPlan`: the steps left that need no failed or skipped one."""
    steps = conversation.sections.plan_so_far
    lost = {str(step["id"]) for step in steps if step.get("status") in {"failed", "skipped"}}
    left: list[dict[str, Any]] = []
    for step in (one for one in steps if one.get("status") == "pending"):
        needs = [str(one) for one in step.get("depends_on", [])]
        if lost & {*needs}:
            lost.add(str(step["id"]))
            continue
        renewed = {f"{one['id']}"[1:] for one in left}
        fields = {key: step[key] for key in ("title", "agent", "instruction", "kind", "folder") if step.get(key)}
        depends = [f"n{one}" if one in renewed else one for one in needs]
        left.append(fields | {"id": f"n{step['id']}", "depends_on": depends})
    return {"why": say(conversation.language, "revised"), "steps": left}


def _talk(task: Task, intent: Intent) -> str:
    return task.say(intent.action)


SCRIPTS: Final[Mapping[str, Callable[[Task, Intent], str]]] = {
    **dict.fromkeys(("help", "greet", "thanks", "confirm", "decline", "cannot", "explain"), _talk),
    "dated": listing.dated, "find": finding.find, "lookup": finding.lookup, "list": listing.folder,
    **dict.fromkeys(set(listing.LISTINGS) - {"list"}, listing.listed), "count": listing.count,
    "info": listing.info, "now": listing.now, "whoami": listing.whoami,
    **dict.fromkeys(FACTS, listing.extreme), "compare": finding.compare,
    **dict.fromkeys(("shared_out", "list_changes"), listing.changes), "diff_versions": listing.diff,
    "ask": reading.ask, "ask_next": reading.ask_next,
    "read": reading.open_file, "summarise": reading.summarise, "map_files": finding.map_files,
    **dict.fromkeys(("create_folder", "create_file"), organising.create),
    "save_summary": organising.save_summary, "add_summary": organising.add_summary,
    "move": organising.move, **dict.fromkeys(changing.CHANGES, changing.change),
    **dict.fromkeys(("rename_many", "organise"), organising.arrange),
    "empty_trash": changing.empty_trash, "restore": changing.restore,
    **dict.fromkeys(("undo", "undo_meant", "redo"), changing.undo),
    **dict.fromkeys(("replace", "remove_text"), editing.replace_text),
    **dict.fromkeys(("remember", "forget", "list_memories"), changing.memory),
}  # fmt: skip
"""The script of each action."""


def answer(conversation: Conversation, tools: Mapping[str, str]) -> Reply:
    """Return the next reply of the specialist with these tools."""
    task = Task(conversation, conversation.language, tools, Replay(conversation, tools))
    remembered = memory_intent(conversation.asked)
    requested = understand(conversation.request, file_open=conversation.sections.shows_file)
    intents = (remembered,) if remembered else follow_up(conversation, requested)
    if beyond := _of_own_servers(task, intents):
        return Reply(text=beyond)
    if not intents:
        return Reply(text=task.say("not_understood"))
    try:
        return Reply(text=_all(task, intents))
    except CallsNeededError as needed:
        return Reply(calls=needed.calls)


def _of_own_servers(task: Task, intents: Sequence[Intent]) -> str:
    """Return that the tools of the person's own servers are beyond this model, if the message is about one of them."""
    servers = sorted({f"{name}__".split("__")[1] for name in task.tools or () if name.startswith(OWN)})
    said = task.conversation.request.casefold()
    meant = [one for one in servers if one.casefold().replace("_", " ") in said or one.casefold() in said]
    named = meant or (servers if not intents or intents[0].action == "cannot" else [])
    return task.say("own_servers", servers=", ".join(map(code, named))) if named else ""


def _all(task: Task, intents: Sequence[Intent]) -> str:
    parts: list[str] = []
    for intent in intents:
        try:
            parts.append(SCRIPTS[intent.action](task, intent))
        except UnresolvedError as unresolved:
            parts.append(unresolved.text)
        except StoppedError as stopped:
            parts.append(_stopped(task, stopped))
            if stopped.code == "out_of_rounds":
                break
    text = "\n\n".join(dict.fromkeys(text.rstrip() for text in parts if text))
    return f"{text}\n" if task.is_underway else text


def _stopped(task: Task, stopped: StoppedError) -> str:
    result = stopped.result
    if result and result.failure != "error":
        return task.failed(result, task.deed(stopped.tool, ""))
    made = [one.result for one in task.conversation.running if one.result and not one.reads]
    lines = [f"- {path_of(item)}" for change in made if change.worked for item in items_in(change)[:1]]
    done = task.say("done_so_far" if lines else "nothing_done", list="\n".join(lines))
    message = (result.message or result.text) if result else ""
    return task.say(stopped.code, tool=f"`{stopped.tool}`", done=done, message=message)


STRUCTURED: Final = {"RouteDecision": decide, "TaskPlan": plan, "RevisedPlan": revise}


def next_message(messages: Sequence[BaseMessage], options: dict[str, Any], model: str) -> AIMessage:
    """Return the next message of a conversation; `options` are those of the bound `model`."""
    conversation = read_conversation(messages)
    tools: dict[str, str] = options.get("described_tools") or {}
    schema = next((name for name in STRUCTURED if name in tools), "")
    lent = None if tools else lent_answer(conversation.asked)
    forms: dict[str, Any] = options.get("forms") or {}
    made = {name: args for name, form in forms.items() if (args := filled(form, conversation.asked))}
    if schema:
        reply = Reply(calls=(Request(schema, STRUCTURED[schema](conversation)),))
    elif made:
        reply = Reply(calls=tuple(Request(name, args) for name, args in made.items()))
    else:
        reply = answer(conversation, tools) if lent is None else Reply(lent)
    calls = [
        ToolCall(name=one.name, args=dict(one.args), id=_call_id(conversation, index, one), type="tool_call")
        for index, one in enumerate(reply.calls)
    ]
    reason: Literal["tool_calls", "stop"] = "tool_calls" if calls else "stop"
    return AIMessage(reply.text, tool_calls=calls, response_metadata={"model_name": model, "finish_reason": reason})


def _call_id(conversation: Conversation, index: int, one: Request) -> str:
    """Return an id that no other call of the run has, the same each time: the run, the calls before, and the call."""
    if not conversation.run_id:
        return f"call_{uuid4().hex}"
    before = [made.id for made in conversation.calls if made.turn == conversation.turn]
    seed = [conversation.run_id, before, conversation.segment, index, one.name, dict(one.args)]
    return f"call_{sha256(json.dumps(seed, sort_keys=True).encode(errors='surrogatepass')).hexdigest()[:32]}"
