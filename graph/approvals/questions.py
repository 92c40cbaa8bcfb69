"""A question of a person's own server as an approval: its card, and the reply for each answer."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from mcp.types import ElicitResult

from drive_server.kernel.texts import Texts
from graph.approvals.answers import Decision, DecisionError, approves_all, for_this_approval, read_decisions
from graph.approvals.payload import ApprovalPayload
from graph.events.approvals import ApprovalAction, QuestionView
from graph.events.calls import named
from graph.language import Language
from graph.policy.reasons import sentence
from graph.servers.elicitation.answers import Problem, read_answer
from graph.servers.elicitation.forms import defaults_of
from graph.servers.elicitation.held import OpenQuestion
from graph.servers.pins import cleaned
from graph.state import Approval, Call, OutsideCall

NO_FIELDS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": False}
TEXTS: Final = Texts.beside(__file__)
ALL_AT_ONCE: Final = DecisionError("approve_all")
NOT_AN_ANSWER: Final = DecisionError("not_an_answer")


class FieldsError(DecisionError):
    """An answer that does not fit the form, with the problem of each field, by name."""

    def __init__(self, fields: Mapping[str, Problem]) -> None:
        self.fields = fields
        super().__init__("fields")

    def sentence(self, language: Language) -> str:
        """Return the problem of each field."""
        return "; ".join(f"{cleaned(name)}: {problem.sentence(language)}" for name, problem in self.fields.items())


class Reply(NamedTuple):
    """The result for the server; None if the answer is unusable, for the reason in `problem`."""

    result: ElicitResult | None
    decision: Decision
    problem: str = ""


def allowed_decisions(question: Mapping[str, Any]) -> Sequence[str]:
    """Return the decisions that answer a question: an address is only opened or not, an empty form only confirmed."""
    if question["mode"] == "url":
        return "approve", "reject"
    return ("edit", "reject") if question["schema"]["properties"] else ("approve", "edit", "reject")


def question_payload(
    call: Call, source: OutsideCall, asked: OpenQuestion, approval: Approval, language: Language
) -> ApprovalPayload:
    """Return the interrupt's value, in the shape of any approval."""
    view = _view(source, asked, language)
    args = defaults_of(view["schema"])
    action: ApprovalAction = {
        "tool_call_id": call["tool_call_id"],
        **named(call["name"]),
        "args": args,
        "risk": call["risk"],
        "reason": sentence("question", language),
        "preview": _preview(view, language),
        "reversible": False,
        "etag": None,
        "effect": None,
        "grant_kind": None,
        "code": "question",
        "passage": None,
        "question": view,
    }
    description = f"{action['reason']}\n\n{action['preview']}"
    return {
        "approval_id": approval["approval_id"],
        "expires_at": approval["expires_at"],
        "action_requests": [{"name": call["name"], "args": args, "description": description}],
        "review_configs": [
            {
                "action_name": call["name"],
                "allowed_decisions": [*allowed_decisions(view)],
                "args_schema": view["schema"],
            }
        ],
        "actions": [action],
    }


def _view(source: OutsideCall, asked: OpenQuestion, language: Language) -> QuestionView:
    question = asked.question
    server = cleaned(source["server_name"])
    fields = ", ".join(question.secrets)
    return {
        "server_id": source["server_id"],
        "server_name": server,
        "tool": source["display_name"],
        "mode": question.mode,
        "message": question.message,
        "schema": dict(question.schema or NO_FIELDS),
        "url": question.url,
        "host": question.host,
        "warning": TEXTS.say("question.secret", language, server=server, fields=fields) if fields else "",
        "problem": asked.problem,
        "language": language,
    }


def _preview(view: QuestionView, language: Language) -> str:
    named = {"server": view["server_name"], "tool": view["tool"], "url": view["url"], "host": view["host"]}
    words = "\n".join(f"> {line}" for line in view["message"].splitlines())
    lines = [view["problem"], TEXTS.say("question.asks", language, **named), words, view["warning"]]
    return "\n".join(filter(None, [*lines, TEXTS.say(f"question.{view['mode']}", language, **named)]))


def checked_reply(action: Mapping[str, Any], decision: Decision) -> ElicitResult:
    """Return the result for the server from a decision. Raises `DecisionError` if it does not answer the question."""
    question: Mapping[str, Any] = action["question"]
    if decision["type"] not in allowed_decisions(question):
        raise NOT_AN_ANSWER
    if decision["type"] == "reject":
        return ElicitResult(action="decline")
    if question["mode"] == "url":
        return ElicitResult(action="accept")
    content, problems = read_answer(question["schema"], decision["args"] or {})
    if problems:
        raise FieldsError(problems)
    return ElicitResult(action="accept", content=content)


def read_reply(
    answer: object, action: Mapping[str, Any], approval_id: str, language: Language, content: Mapping[str, Any] | None
) -> Reply:
    """Return the server's result from an answer in any dialect; `content` has its fields if they came separately."""
    decision = read_decisions(answer, [cast("Call", {**action, "standing": "asked"})], approval_id)[0]
    if content is not None and decision["type"] == "edit":
        decision = cast("Decision", {**decision, "args": dict(content)})
    try:
        if approves_all(for_this_approval(answer, approval_id)):
            raise ALL_AT_ONCE
        if not decision["valid"]:
            return Reply(None, decision, decision["message"])
        return Reply(checked_reply(action, decision), decision)
    except DecisionError as error:
        return Reply(None, decision, error.sentence(language))
