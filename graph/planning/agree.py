"""Ask the person once, right after planning, for the plan's bounds; before the interrupt the node only reads."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from graph.approvals.answers import Decision, decided_at, decision_view, read_decisions, says_expired
from graph.approvals.approve import announce_decided
from graph.approvals.arguments import fit
from graph.approvals.payload import EXPIRED, is_expired, open_approval, payload, ttl_seconds
from graph.approvals.preview import first_line
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import Toolbox
from graph.drive.tool_names import FILE_INFO
from graph.errors import DriveUnavailableError
from graph.language import Language
from graph.planning.shape import ProposedBounds
from graph.policy.bounds import BoundsData
from graph.policy.contract import SCHEMA, TEXTS, Folder, agreed, card, needed
from graph.state import Call, Plan, State, Step, Update, running_turn

ROOT: Final = "/"


def make_agree(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def agree(state: State, runtime: Runtime[RunContext]) -> Update:
        plan = state.get("plan")
        proposal = plan.get("proposal") if plan else None
        if plan is None or proposal is None:
            return {}
        approval, call = proposal["approval"], proposal["call"]
        answer = interrupt(payload(approval, [call], lambda _: SCHEMA, running_turn(state)["language"]))
        late = says_expired(answer) or is_expired(approval, decided_at(answer, deps.clock()))
        decision = _rejected(call, EXPIRED) if late else read_decisions(answer, [call], approval["approval_id"])[0]
        args, problem = _args_of(decision, call)
        if args and decision["type"] == "edit":
            call, problem = await _edited(deps, runtime, call, args, plan["plan_id"], running_turn(state)["language"])
            args = None if problem else call["args"]
        contract, problem = _contract(args, deps.clock()) if args else (None, problem)
        if problem:
            decision = _rejected(call, problem)
        announce_decided(approval, [decision_view(decision, first_line(call["preview"]))], late=late)
        decided: Plan = {**plan, "proposal": None}
        return {"plan": {**decided, "contract": dict(contract)} if contract else decided}

    return agree


async def proposal_for(
    plan: Plan, bounds: ProposedBounds | None, state: State, deps: GraphDependencies, runtime: Runtime[RunContext]
) -> dict[str, Any] | None:
    """Return the card about a plan's bounds; None if it has none, or would ask nothing without them."""
    if bounds is None or not needed(bounds.kinds, reads=_reads(plan["steps"], state)):
        return None
    user = deps.user(runtime)
    try:
        folders = await _folders(await deps.connections.toolbox(user), bounds.folders)
    except DriveUnavailableError:
        return None
    if not folders:
        return None
    turn = running_turn(state)
    call = card(plan["plan_id"], folders, bounds.kinds, bounds.max_items, turn["language"])
    approval = open_approval([call], turn["run_id"], deps.clock(), ttl_seconds(deps.settings, user.mode))
    return {"approval": approval, "call": call}


def _reads(steps: Sequence[Step], state: State) -> bool:
    return running_turn(state)["tainted"] or any(step["agent"] != "drive_agent" for step in steps)


async def _folders(toolbox: Toolbox, refs: Sequence[str]) -> list[Folder]:
    """Return those of the folders that are there. All of the drive is no bound: then there is none at all."""
    found: dict[str, Folder] = {}
    for ref in dict.fromkeys(refs):
        info = await toolbox.call(FILE_INFO, {"item_id": ref}, meta={})
        item: Mapping[str, Any] = info.structuredContent or {}
        if info.isError or item.get("kind") != "folder":
            continue
        if item.get("path") == ROOT:
            return []
        found[str(item["id"])] = {"id": str(item["id"]), "path": str(item.get("path") or item.get("name"))}
    return list(found.values())


def _args_of(decision: Decision, call: Call) -> tuple[Mapping[str, Any] | None, str]:
    """Return the card's arguments after the person's edits, None without agreement, and the problems in them."""
    if not decision["valid"] or decision["type"] not in {"approve", "edit"}:
        return None, ""
    args, problems = fit(decision["args"] or {}, SCHEMA) if decision["type"] == "edit" else (call["args"], [])
    return (None, "; ".join(problems)) if problems else (args, "")


async def _edited(
    deps: GraphDependencies,
    runtime: Runtime[RunContext],
    call: Call,
    args: Mapping[str, Any],
    plan_id: str,
    language: Language,
) -> tuple[Call, str]:
    """Return the card with the person's bounds, and the problem with them; a planner may not name the whole drive."""
    refs = list(dict.fromkeys(args["folders"]))
    try:
        folders = await _folders(await deps.connections.toolbox(deps.user(runtime)), refs)
    except DriveUnavailableError as error:
        return call, error.in_language(language).sentence
    if len(folders) < len(refs):
        return call, TEXTS.say("contract.no_bound", language)
    return card(plan_id, folders, args["kinds"], args["max_items"], language), ""


def _contract(args: Mapping[str, Any], now: datetime) -> tuple[BoundsData | None, str]:
    """Return the agreed bounds, and the problem with impossible ones."""
    try:
        return agreed(args, now), ""
    except ValueError as error:
        return None, str(error)


def _rejected(call: Call, why: str) -> Decision:
    return {"tool_call_id": call["tool_call_id"], "type": "reject", "args": None, "message": why, "valid": False}
