"""A request becomes a turn of a thread: a new run, a version of an earlier one, or a run that is there already."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select

from api.drive import ChatPlace, Kind, Principal
from api.errors import ApprovalPendingError, NotFoundError, ThreadBusyError
from api.events.frames import newest_number
from api.http.thread_views import thread_view
from api.openai.following import Answer
from api.openai.history import History, Spot, named
from api.openai.messages import Conversation, Said
from api.openai.words import say
from api.runs.versions import Replaced
from api.service import Service
from api.storage.tables import EventRow, RunRow
from api.thread_imports import ImportedMessage, ImportedThread, ThreadImports
from api.threads import refuse_if_busy
from graph.language import language_of
from graph.planning.commands import command_of

APPROVAL: Final = "approval_needed"
RULE: Final = "\n\n---\n\n"
"""Between the outcome of an earlier message and the answer to the last one."""
BUSY_SECONDS: Final = 20.0
"""So long a message waits for the end of the answer before it."""


@dataclass(frozen=True, slots=True)
class Named:
    """The place that a client names: the answer or the thread that it goes on from, or its own name for a chat."""

    answer: Spot | None = None
    thread_id: str | None = None
    name: str = ""
    is_retry: bool = False


class Turns:
    """Begins the turns of one caller with one assistant."""

    def __init__(self, service: Service, caller: Principal, assistant_id: str) -> None:
        self._service = service
        self._caller = caller
        self._assistant_id = assistant_id
        self._history = History(service, caller)

    async def begin(self, conversation: Conversation, at: Named) -> Answer:
        """Return the answer to a conversation's order.

        Raises as `Runs.start` does, but an approval that waits is shown again instead.
        """
        if at.is_retry and (row := await self._history.retried(conversation)):
            return Answer(await self._service.runs.get(self._caller, row.run_id), row.after, row.preface)
        pinned = at.answer.thread_id if at.answer else at.thread_id or await self._thread_named(at)
        try:
            answer = await self._answer_when_free(conversation, at, pinned)
        except ApprovalPendingError as error:
            answer = await self._waiting(conversation, str(error.details["run_id"]))
        if not answer.is_new:
            await self._history.note(_digests(conversation, at), answer.run, answer.after, answer.preface)
        return answer

    async def _answer_when_free(self, conversation: Conversation, at: Named, pinned: str | None) -> Answer:
        """Return the answer, a moment later if the thread's last one is still being made.

        An order that is carried out just now is not carried out a second time.
        """
        try:
            return await self._answer(conversation, at, pinned)
        except ThreadBusyError as error:
            run = await self._service.runs.get(self._caller, str(error.details["run_id"]))
            if run.message == conversation.order:
                return Answer(run)
            if not await self._is_over_soon(run):
                raise
        return await self._answer(conversation, at, pinned)

    async def _is_over_soon(self, run: RunRow) -> bool:
        """Wait for a run; say whether it has ended, or waits for a person."""
        after = await newest_number(self._service.database, run.id)
        with suppress(TimeoutError):
            async with asyncio.timeout(BUSY_SECONDS):
                async with aclosing(self._service.runs.follow(run.id, after, BUSY_SECONDS)) as batches:
                    async for frames in batches:
                        if any(frame.is_final or frame.type == APPROVAL for frame in frames):
                            break
                return True
        return False

    async def _thread_named(self, at: Named) -> str | None:
        return await self._history.thread_named(at.name) if at.name else None

    async def _answer(self, conversation: Conversation, at: Named, pinned: str | None) -> Answer:
        if pinned and (commanded := await self._command(conversation, pinned)):
            return commanded
        spot = at.answer or (None if at.thread_id else await self._history.find(conversation, pinned))
        if spot is None and not pinned and conversation.history:
            spot = await self._imported(conversation)
        return await (self._go_on(conversation, at, spot) if spot else self._begin_at(conversation, at, pinned))

    async def _begin_at(self, conversation: Conversation, at: Named, pinned: str | None) -> Answer:
        """Return the answer in a new thread, or in the named one: at its end, or in place of its first message."""
        if pinned is None or at.thread_id or conversation.history:
            return await self._start(conversation, at, pinned)
        runs = await self._service.threads.runs(pinned)
        return await self._start(conversation, at, pinned, await self._replaced(runs, None, at))

    async def _go_on(self, conversation: Conversation, at: Named, spot: Spot) -> Answer:
        """Return the answer after an earlier turn: the thread's last one, or one that is left from there on."""
        runs = await self._service.threads.runs(spot.thread_id)
        after = next((run for run in runs if run.id == spot.run_id), None)
        if after is not None and after.number == max(run.number for run in runs):
            if spot.rest:
                await self._add(spot, conversation)
            return await self._start(conversation, at, spot.thread_id, missed=await self._missed(spot, after))
        if spot.rest and at.name:
            return await self._start(conversation, at, spot.thread_id)
        if spot.rest or (after is not None and after.head_checkpoint is not None):
            copies = self._copied(conversation, after) if at.answer and after else self._imported(conversation)
            return await self._start(conversation, at, (await copies).thread_id)
        return await self._start(conversation, at, spot.thread_id, await self._replaced(runs, after, at))

    async def _start(
        self,
        conversation: Conversation,
        at: Named,
        thread_id: str | None,
        replaced: Replaced | None = None,
        missed: str = "",
    ) -> Answer:
        preface = f"{missed.strip()}{RULE}" if missed.strip() else ""
        run = await self._service.runs.start(
            self._caller,
            conversation.order,
            ChatPlace(attachments=await self._attachments(conversation)),
            thread_id=thread_id,
            assistant_id=self._assistant_id,
            time_zone=self._caller.time_zone,
            replaced=replaced,
            instructions=conversation.instructions,
            beside=self._history.noting(_digests(conversation, at), preface),
        )
        return Answer(run, preface=preface, is_new=True)

    async def _missed(self, spot: Spot, run: RunRow) -> str:
        """Return the part of the last turn that the client was not sent, unless its items are not shared any more."""
        if not spot.missed or await self._service.withholding.hidden(self._caller, run):
            return ""
        return spot.missed

    async def _attachments(self, conversation: Conversation) -> tuple[tuple[str, Kind], ...]:
        kept: list[tuple[str, Kind]] = [(key, "file") for key in conversation.kept]
        for file in conversation.files:
            stored = await self._service.drive.keep_attachment(self._caller, file.name, file.media_type, file.data)
            kept.append((stored, "file"))
        return tuple(kept)

    async def _replaced(self, runs: Sequence[RunRow], after: RunRow | None, at: Named) -> Replaced | None:
        """Return the version of the order that the thread has already.

        None: the order follows the thread's last answer, or something that this client does not know.
        """
        number = after.number if after else 0
        following = next((run for run in runs if run.head_checkpoint is None and run.number > number), None)
        if following is None or not (at.answer or await self._history.is_of_client(following.id)):
            return None
        return await self._service.runs.find_earlier(self._caller, following.thread_id, following.id)

    async def _imported(self, conversation: Conversation) -> Spot:
        """Return a thread of the client's own history, which counts as read from outside."""
        return Spot(await self._import(conversation.history, conversation.digest_before()))

    async def _copied(self, conversation: Conversation, after: RunRow) -> Spot:
        """Return a thread of the messages up to a run on a branch that was left."""
        view = await thread_view(self._caller, self._service, after.thread_id, after.id)
        said = [Said(one.role, one.text) for one in view.messages if one.role != "tool" and one.text.strip()]
        return Spot(await self._import(said, f"{after.id} {conversation.digest_before()}"))

    async def _import(self, said: Sequence[Said], source_id: str) -> str:
        return (await self._imports.take(self._caller, self._part(said, source_id)))[0]

    async def _add(self, spot: Spot, conversation: Conversation) -> None:
        """Add messages from elsewhere since the thread's last answer. Raises as `refuse_if_busy` does."""
        async with self._service.database.read() as session:
            await session.run_sync(refuse_if_busy, spot.thread_id)
        await self._imports.add(spot.thread_id, self._part(spot.rest, conversation.digest_before()))

    def _part(self, said: Sequence[Said], source_id: str) -> ImportedThread:
        now = self._service.clock.now()
        messages = [ImportedMessage(f"{source_id} {at}", one.role, one.text) for at, one in enumerate(said)]
        title = next((one.text for one in said if one.role == "user"), said[0].text)
        return ImportedThread(f"openai {self._history.key_id}", source_id, title, now, now, messages)

    @property
    def _imports(self) -> ThreadImports:
        return ThreadImports(self._service.database, self._service.graph, self._service.clock)

    async def _waiting(self, conversation: Conversation, run_id: str) -> Answer:
        """Return the question that waits once more: a message never answers it."""
        run = await self._service.runs.get(self._caller, run_id)
        if run.message == conversation.order:
            return Answer(run)
        preface = f"{say('not_taken', language_of(conversation.order))}\n\n"
        return Answer(run, max(0, await last_question(self._service, run_id) - 1), preface)

    async def _command(self, conversation: Conversation, thread_id: str) -> Answer | None:
        """Give the thread's active plan the command that the order is."""
        command = command_of(conversation.order) if "write" in self._caller.scopes else None
        plan = await self._service.plans.try_command(self._caller, thread_id, command) if command else None
        if plan is None:
            return None
        after = await newest_number(self._service.database, plan.run_id)
        return Answer(await self._service.runs.get(self._caller, plan.run_id), after)


def _digests(conversation: Conversation, at: Named) -> list[str]:
    """Return the digests by which the next request finds the turn."""
    return [*conversation.digests[-1:], *([named(at.name)] if at.name else [])]


async def last_question(service: Service, run_id: str) -> int:
    """Return the number of the run's newest event that asks for a decision, 0 without any."""
    query = select(EventRow.seq).where(EventRow.run_id == run_id, EventRow.type == APPROVAL)
    async with service.database.read() as session:
        return await session.scalar(query.order_by(EventRow.seq.desc()).limit(1)) or 0


def answer_of(answer_id: str) -> tuple[str, int]:
    """Return the run and the number after which an answer begins, by the answer's id. Raises `NotFoundError`."""
    run, _, after = answer_id.partition("_")
    if len(run) != 32 or not run.isascii() or not run.isalnum() or not (after.isascii() and after.isdigit()):
        raise NotFoundError("no_response")
    return f"{run[:8]}-{run[8:12]}-{run[12:16]}-{run[16:20]}-{run[20:]}", min(int(after[:10]), 2**31 - 1)
