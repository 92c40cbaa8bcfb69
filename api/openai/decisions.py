"""Approvals as the Responses API has them: items that ask, and items that answer. Both are about one call each."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from api.drive import Principal
from api.errors import InvalidRequestError, NotFoundError
from api.openai.following import Answer
from api.openai.requests import InputItem
from api.openai.turns import last_question
from api.service import Service
from api.storage.tables import ApprovalRow

ANSWER: Final = "mcp_approval_response"
_PREFIX: Final = "mcpr_"


def request_items(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return an item for each call that an approval asks about."""
    return [
        {
            "id": f"{_PREFIX}{event['approval_id']}_{number}",
            "type": "mcp_approval_request",
            "server_label": "drive",
            "name": action["name"],
            "arguments": json.dumps(action["args"], ensure_ascii=False),
        }
        for number, action in enumerate(event["actions"])
    ]


async def decide(service: Service, caller: Principal, items: Sequence[InputItem]) -> Answer:
    """Take the caller's answers, and return the answer that goes on from there.

    All answers are about one approval; it is decided once all of its calls have one. Raises as `Approvals.decide` does,
    and `NotFoundError`, also for an approval of another person.
    """
    asked = [_asked(item) for item in items]
    if len({approval_id for approval_id, _ in asked}) != 1:
        raise InvalidRequestError("several_approvals")
    row = await service.approvals.get(caller, asked[0][0])
    decisions = [_decision(row, number, item) for (_, number), item in zip(asked, items, strict=True)]
    after = await last_question(service, row.run_id)
    if len(decisions) < len(row.payload["actions"]) and not any("message" in one for one in decisions):
        for one in decisions:
            approved = one["type"] == "approve"
            row = await service.approvals.confirm(caller, row.id, one["tool_call_id"], approved=approved)
        still_waits = row.status == "waiting"
        return Answer(await service.runs.get(caller, row.run_id), max(0, after - 1) if still_waits else after)
    await service.approvals.decide(caller, row.id, decisions)
    return Answer(await service.runs.get(caller, row.run_id), after)


def _asked(item: InputItem) -> tuple[str, int]:
    """Return the approval and the number of the call that an item answers."""
    approval_id, _, number = (item.approval_request_id or "").removeprefix(_PREFIX).rpartition("_")
    if not approval_id or not (number.isascii() and number.isdigit()) or item.approve is None:
        raise NotFoundError("no_approval")
    return approval_id, int(number[:6])


def _decision(row: ApprovalRow, number: int, item: InputItem) -> dict[str, Any]:
    actions = row.payload["actions"]
    if number >= len(actions):
        raise NotFoundError("no_approval")
    decision = {"tool_call_id": actions[number]["tool_call_id"], "type": "approve" if item.approve else "reject"}
    # An approval says nothing more; a reason for a rejection is read by a model.
    return {**decision, "message": item.reason} if item.reason and not item.approve else decision
