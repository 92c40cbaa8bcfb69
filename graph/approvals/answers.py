"""Parse a person's answer to an approval, in every dialect; without a readable decision a call is not run."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, NotRequired, cast

import orjson
from typing_extensions import TypedDict

from drive_server.kernel.texts import ORIGINAL, Texts
from graph.approvals.payload import EXPIRED, asked
from graph.events.approvals import DecisionView
from graph.language import Language
from graph.policy.grant_offers import GrantRequest, grantable, read_grant
from graph.state import Call

DecisionType = Literal["approve", "edit", "reject", "respond"]

WORDS: Final[dict[str, DecisionType]] = {
    "approve": "approve",
    "accept": "approve",
    "edit": "edit",
    "reject": "reject",
    "ignore": "reject",
    "respond": "respond",
    "response": "respond",
}
"""The words of our own API, of LangChain's human-in-the-loop middleware and of Agent Inbox."""

TEXTS: Final = Texts.beside(__file__)
APPROVE_ALL: Final = "approve_all"
OF_THE_SERVICE: Final = frozenset({"decided_by", "decided_key", "decided_at"})
"""Keys that a service adds to an answer that it passes on."""


class DecisionError(ValueError):
    """A decision that can't be used, for the reason that the code says: the call that it is about is not run."""

    def __init__(self, code: str, **params: str) -> None:
        self.code, self.params = code, params
        super().__init__(self.sentence(ORIGINAL))

    def sentence(self, language: Language) -> str:
        """Return the reason as a sentence."""
        return TEXTS.say(f"decision.{self.code}", language, **self.params)

    @property
    def texts(self) -> tuple[str, str]:
        """The sentence in English and in Chinese."""
        return self.sentence("en"), self.sentence("zh")


class GrantError(DecisionError):
    """A grant that can't come with its decision."""


class Decision(TypedDict):
    """The person's answer about one call. `valid` is False where nothing readable was said: the call is not run."""

    tool_call_id: str
    type: DecisionType
    args: dict[str, Any] | None
    message: str
    valid: bool
    grant: NotRequired[GrantRequest | None]


def says_expired(answer: object) -> bool:
    """Say whether the service that asked found that the time was over."""
    return isinstance(answer, Mapping) and answer.get(EXPIRED) is True


def decided_at(answer: object, now: datetime) -> datetime:
    """Return when the person answered: as the service recorded it, else `now` (a crash may delay an answer)."""
    value = answer.get("decided_at") if isinstance(answer, Mapping) else None
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else now
    except ValueError:
        return now
    return at if at.tzinfo else now


class Decider(NamedTuple):
    """The person who answered, by email, and the name of their key; None if nobody names it."""

    email: str
    key: str | None = None


def decided_by(answer: object, email: str) -> Decider:
    """Return the person who answered, as the service that passes the answer on names them, else by that email."""
    said: Mapping[object, object] = cast("Mapping[object, object]", answer) if isinstance(answer, Mapping) else {}
    by, key = said.get("decided_by"), said.get("decided_key")
    return Decider(by if isinstance(by, str) else email, key if isinstance(key, str) else None)


def approves_all(answer: object) -> bool:
    """Say whether an answer approves everything: one that says anything else with it approves nothing."""
    if not isinstance(answer, Mapping):
        return False
    said = cast("Mapping[str, Any]", answer)
    return said.get(APPROVE_ALL) is True and set(said) <= {APPROVE_ALL, *OF_THE_SERVICE}


def read_decisions(answer: object, calls: Sequence[Call], approval_id: str = "") -> list[Decision]:
    """Return one decision per asked call, in their order, from an answer in any dialect.

    Known are: ours (`decisions` by tool_call_id, or `approve_all`), LangChain's (`decisions` in order), Agent Inbox (a
    list in order), a single decision, and each of them under the approval's id, as protocol v2 answers. A decision that
    is missing, doubled, unknown, for another approval or one too many is invalid: its call is not run.
    """
    waiting = asked(calls)
    answer = for_this_approval(answer, approval_id)
    if approves_all(answer):
        return [_taken(call, "approve") for call in waiting]
    raw = _raw_decisions(answer)
    if raw is None:
        return [_invalid(call, "The answer could not be read as a decision.") for call in waiting]
    if any("tool_call_id" in entry for entry in raw):
        return [_by_id(call, raw) for call in waiting]
    if len(raw) == 1 and len(waiting) > 1 and WORDS.get(str(raw[0].get("type"))) == "reject":
        raw = raw * len(waiting)
    if len(raw) != len(waiting):
        problem = f"There were {len(raw)} decisions for {len(waiting)} calls."
        return [_invalid(call, problem) for call in waiting]
    return [_decision(call, entry) for call, entry in zip(waiting, raw, strict=True)]


def for_this_approval(answer: object, approval_id: str) -> object:
    """Unwrap `{id: answer}`, `{"interrupt_id": id, "response": answer}` and a list of those under `responses`."""
    if not isinstance(answer, Mapping):
        return answer
    said = cast("Mapping[str, Any]", answer)
    if approval_id and set(said) == {approval_id}:
        return said[approval_id]
    listed: object = said.get("responses", [said] if "interrupt_id" in said else None)
    if listed is None:
        return said
    mine = [one for one in listed if _is_for(one, approval_id)] if isinstance(listed, list) else []
    return mine[0].get("response") if len(mine) == 1 else None


def _is_for(response: object, approval_id: str) -> bool:
    return isinstance(response, Mapping) and bool(approval_id) and response.get("interrupt_id") == approval_id


def _raw_decisions(answer: object) -> list[Mapping[str, Any]] | None:
    entries: object = answer
    if isinstance(answer, Mapping):
        said = cast("Mapping[str, Any]", answer)
        if APPROVE_ALL in said:
            return None
        entries = said.get("decisions", [said])
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in cast("list[object]", entries)):
        return None
    return cast("list[Mapping[str, Any]]", entries)


def _by_id(call: Call, raw: Sequence[Mapping[str, Any]]) -> Decision:
    mine = [entry for entry in raw if entry.get("tool_call_id") == call["tool_call_id"]]
    if len(mine) != 1:
        return _invalid(call, "There was no decision for this call." if not mine else "There were several decisions.")
    return _decision(call, mine[0])


def parse_decision(action: Mapping[str, Any], entry: Mapping[str, Any]) -> Decision:
    """Return the decision in an entry about an action, not yet checked against its tool. Raises `DecisionError`."""
    kind = WORDS.get(str(entry.get("type")))
    if kind is None:
        raise DecisionError("type")
    message = _message(entry)
    if kind == "respond" and not message.strip():
        raise DecisionError("no_message")
    args = _arguments(action, kind, entry)
    decision = _taken(action, kind, args if kind == "edit" else None, message)
    return decision if entry.get("grant") is None else {**decision, "grant": _grant(kind, entry["grant"])}


def _arguments(action: Mapping[str, Any], kind: DecisionType, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the arguments in an entry, by any dialect, None if it has none."""
    edited = entry.get("edited_action", entry)
    args = edited.get("args") if isinstance(edited, Mapping) else None
    names = [entry.get("name"), edited.get("name") if isinstance(edited, Mapping) else None]
    if isinstance(args, Mapping) and "action" in args and isinstance(args.get("args"), Mapping):
        names.append(args["action"])
        args = args["args"]
    if any(name is not None and name != action["name"] for name in names):
        raise DecisionError("other_tool", tool=str(action["name"]))
    changed = entry.get("modifiedArgs", entry.get("modified_args"))
    if args is None and isinstance(changed, Mapping):
        args = {**action["args"], **cast("Mapping[str, Any]", changed)}
    found = dict(cast("Mapping[str, Any]", args)) if isinstance(args, Mapping) else None
    if not _is_plain_json(found):
        raise DecisionError("args_not_json")
    if kind == "edit" and found is None:
        raise DecisionError("edit_without_args")
    if kind == "approve" and found not in (None, action["args"]):
        raise DecisionError("approve_with_args")
    return found


def _is_plain_json(args: object) -> bool:
    """Python reads half a surrogate pair, NaN, and numbers beyond 64 bits from JSON; no tool can be sent these."""
    try:
        json.dumps(args, allow_nan=False, ensure_ascii=False).encode()
        orjson.dumps(args)
    except (ValueError, TypeError):
        return False
    return True


def _grant(kind: DecisionType, value: object) -> GrantRequest:
    if kind != "approve":
        raise GrantError("grant_alone")
    try:
        return read_grant(value)
    except ValueError as error:
        raise GrantError("grant.unreadable", problem=str(error)) from error


def _decision(call: Call, entry: Mapping[str, Any]) -> Decision:
    try:
        decision = parse_decision(call, entry)
    except DecisionError as error:
        return _invalid(call, str(error))
    if decision.get("grant") and grantable(call) is None:
        # A grant that can't be given says that something else was meant: nothing is done.
        return _invalid(call, "A grant is given for what can be undone and reaches nobody.")
    return decision


def _message(entry: Mapping[str, Any]) -> str:
    message = entry.get("message") or entry.get("args")
    return message if isinstance(message, str) else ""


def _taken(
    action: Mapping[str, Any], kind: DecisionType, args: dict[str, Any] | None = None, message: str = ""
) -> Decision:
    return {"tool_call_id": action["tool_call_id"], "type": kind, "args": args, "message": message, "valid": True}


def _invalid(call: Call, problem: str) -> Decision:
    return {"tool_call_id": call["tool_call_id"], "type": "reject", "args": None, "message": problem, "valid": False}


def decision_view(decision: Decision, about: str = "") -> DecisionView:
    """Return the decision as clients see it; `about` is the line that names its call."""
    view: DecisionView = {"tool_call_id": decision["tool_call_id"], "type": decision["type"]}
    if about:
        view["about"] = about
    return {**view, "message": decision["message"]} if decision["message"] else view
