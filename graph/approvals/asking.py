"""Ask the person the question of a server whose call is held (`servers/elicitation/held.py`).

A task of the graph begins from its top when it is resumed, so each asks once; a further question is a further task's.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from langgraph.types import interrupt
from mcp.types import ElicitResult

from graph.approvals.answers import Decision, decided_at, decision_view, says_expired
from graph.approvals.approve import announce_decided
from graph.approvals.payload import is_expired, open_approval
from graph.approvals.preview import first_line
from graph.approvals.questions import Reply, question_payload, read_reply
from graph.events.sending import emit
from graph.language import Language
from graph.servers.elicitation.held import HeldCall, HeldCalls, OpenQuestion, Shown
from graph.state import Approval, Call, OutsideCall

if TYPE_CHECKING:
    from graph.events.approvals import DecisionView


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks for one call, in one task of the graph; an answer counts for `ttl` seconds.

    `note` stores the approval that waits, or nothing, beside the mark that the call was sent.
    """

    calls: HeldCalls
    call: Call
    source: OutsideCall
    run_id: str
    language: Language
    task_id: str
    now: Callable[[], datetime]
    ttl: int
    note: Callable[[str], Awaitable[None]]

    async def outcome(self, held: HeldCall) -> Any | None:
        """Return the outcome of the call; None if another task of the graph goes on with it.

        Interrupts the graph if the server asks something. Raises `TimeoutError` if the call was held for too long.
        """
        try:
            if held.shown and held.shown.task_id == self.task_id:
                await self._settle(held, held.shown, interrupt(held.shown.payload))
            await self.calls.wait(held)
            # Also once the call has ended: the question may be another one's, which still waits for the answer.
            if held.open and self.task_id not in held.tasks and self.calls.claim(held):
                await self._ask(held, held.open)
            if held.task.done() and not held.open:
                return held.task.result()
        except asyncio.CancelledError:
            self.calls.drop(held)
            raise
        return None

    async def _ask(self, held: HeldCall, asked: OpenQuestion) -> None:
        approval = open_approval([{**self.call, "standing": "asked"}], self.run_id, self.now(), self.ttl)
        payload = question_payload(self.call, self.source, asked, approval, self.language)
        held.shown = Shown(self.task_id, asked, {**approval}, {**payload})
        held.tasks.add(self.task_id)
        await self.note(approval["approval_id"])
        await self._settle(held, held.shown, interrupt(payload))

    async def _settle(self, held: HeldCall, shown: Shown, answer: object) -> None:
        """Hand the answer over; one that can't be used leaves the question open, for the next task to ask again."""
        approval: Approval = {**shown.approval}  # pyright: ignore[reportAssignmentType] - `_ask` made it of one
        self.calls.release(held)
        held.shown = None
        late = says_expired(answer) or is_expired(approval, decided_at(answer, self.now()))
        reply = self._late() if late else self._read(held, shown, answer)
        if reply.result is None:
            shown.asked.problem = reply.problem
        else:
            if reply.result.action != "accept":
                held.notes.append("expired" if late else "declined")
            shown.asked.give(reply.result)
        about = first_line(str(shown.payload["actions"][0]["preview"]))
        announce_decided(approval, [decision_view(reply.decision, about)], late=late)
        await self.note("")

    def _read(self, held: HeldCall, shown: Shown, answer: object) -> Reply:
        approval_id = shown.approval["approval_id"]
        content = held.contents.pop(approval_id, None)
        return read_reply(answer, shown.payload["actions"][0], approval_id, self.language, content)

    def _late(self) -> Reply:
        key = self.call["tool_call_id"]
        decision: Decision = {"tool_call_id": key, "type": "reject", "args": None, "message": "", "valid": False}
        return Reply(ElicitResult(action="cancel"), decision)


def emit_lost_question(approval_id: str, tool_call_id: str) -> None:
    """Tell clients that a question is over whose call is held by no process any more: no answer reaches its server."""
    decision: DecisionView = {"tool_call_id": tool_call_id, "type": "reject"}
    emit({"type": "approval_resolved", "approval_id": approval_id, "decisions": [decision], "status": "cancelled"})
