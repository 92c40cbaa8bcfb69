"""The thread of a conversation that a client tells: found by its messages and the earlier answers."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection, insert, select

from api.drive import Principal
from api.events.frames import read_frames
from api.openai.following import rendering_of
from api.openai.messages import Conversation, Said
from api.service import Service
from api.storage.tables import OpenAITurnRow, RunRow, new_id, table_of

MAX_CANDIDATES: Final = 20
MAX_LOOKED_UP: Final = 100
"""The newest messages of a conversation by which its thread is looked for."""
RETRY_WITHIN: Final = timedelta(minutes=15)
_NEW: Final = insert(table_of(OpenAITurnRow))
_THOUGHTS: Final = re.compile(r"<details\b.*?</details>|<think>.*?</think>", re.DOTALL)
_ADDRESS: Final = re.compile(r"https?://\S+")
_SIGNS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Spot:
    """The end of a turn in a thread, after which a conversation goes on; no run: before the first one.

    `missed` is the part of its answer that the client was not sent: it went away before a call was decided. `rest` are
    the messages that follow it in the conversation, and are none of the thread.
    """

    thread_id: str
    run_id: str = ""
    missed: str = ""
    rest: Sequence[Said] = ()


class History:
    """The turns of one caller's client."""

    def __init__(self, service: Service, caller: Principal) -> None:
        self._service = service
        self._database = service.database
        self._caller = caller
        self.key_id = caller.key_id or ""

    async def note(self, digests: Sequence[str], run: RunRow, after: int, preface: str) -> None:
        """Store that a conversation up to here is answered by a part of a run that is there already."""
        rows = self._rows_of(digests, run, after, preface)
        await self._database.write_sync(lambda connection: connection.execute(_NEW, rows))

    def noting(self, digests: Sequence[str], preface: str) -> Callable[[Connection, RunRow], object]:
        """Return the function that stores it in the transaction that begins the run."""
        return lambda connection, run: connection.execute(_NEW, self._rows_of(digests, run, 0, preface))

    def _rows_of(self, digests: Sequence[str], run: RunRow, after: int, preface: str) -> list[dict[str, object]]:
        place = {"thread_id": run.thread_id, "run_id": run.id, "after": after, "preface": preface}
        whose = {"user_id": self._caller.user_id, "key_id": self.key_id, "created_at": self._service.clock.now()}
        return [{"id": new_id(), "digest": digest, **whose, **place} for digest in digests]

    async def retried(self, conversation: Conversation) -> OpenAITurnRow | None:
        """Return the turn that a client, which lost its answer, asks for again."""
        since = self._service.clock.now() - RETRY_WITHIN
        rows = await self._rows(conversation.digests[-1:])
        return next((row for row in rows if row.created_at >= since), None)

    async def thread_named(self, name: str) -> str | None:
        """Return the thread of the conversation that the client calls by a name."""
        mine = OpenAITurnRow.user_id == self._caller.user_id
        query = select(OpenAITurnRow.thread_id).where(OpenAITurnRow.digest == named(name), mine)
        async with self._database.read() as session:
            return await session.scalar(query.order_by(OpenAITurnRow.created_at.desc()).limit(1))

    async def find(self, conversation: Conversation, thread_id: str | None = None) -> Spot | None:
        """Return where the conversation goes on: in this thread, or in any that this key began.

        Its messages have to begin with those of the thread. The client's answer of the last common turn has to be the
        one that was sent, or its beginning.
        """
        answers = conversation.answers()[-MAX_LOOKED_UP:]
        rows = await self._rows([digest for digest, *_ in answers], thread_id) if answers else ()
        for digest, answer, rest in reversed(answers):
            found = [row for row in rows if row.digest == digest][:MAX_CANDIDATES]
            if spot := await self._answered(found, answer, is_sure=thread_id is not None):
                return replace(spot, rest=rest)
        return None

    async def _answered(self, rows: Sequence[OpenAITurnRow], answer: str, *, is_sure: bool) -> Spot | None:
        """Return the turn that was answered so; of several, one whose answer the client has whole."""
        told, begun = words_of(answer), list[Spot]()
        for row in rows:
            parts = await self._parts_of(row)
            said = words_of("".join(parts))
            if said == told:
                return Spot(row.thread_id, row.run_id)
            # A client that stopped has the beginning; one that stopped before the first word could have any thread.
            if said.startswith(told) and (told or is_sure):
                begun.append(Spot(row.thread_id, row.run_id, _missed(parts, told)))
        return next(iter(begun), None)

    async def is_of_client(self, run_id: str) -> bool:
        """Say whether a client of this door began a run, and not the page or another program."""
        query = select(OpenAITurnRow.id).where(OpenAITurnRow.run_id == run_id).limit(1)
        async with self._database.read() as session:
            return await session.scalar(query) is not None

    async def _rows(self, digests: Sequence[str], thread_id: str | None = None) -> Sequence[OpenAITurnRow]:
        """Return the turns with one of the digests, the newest first."""
        query = select(OpenAITurnRow).where(
            OpenAITurnRow.digest.in_(digests),
            OpenAITurnRow.user_id == self._caller.user_id,
        )
        own = OpenAITurnRow.thread_id == thread_id if thread_id else OpenAITurnRow.key_id == self.key_id
        async with self._database.read() as session:
            return (await session.scalars(query.where(own).order_by(OpenAITurnRow.created_at.desc()))).all()

    async def _parts_of(self, row: OpenAITurnRow) -> list[str]:
        """Return the answer of a turn as it was sent, or would have been: cut after each question."""
        async with self._database.read() as session:
            run = await session.get(RunRow, row.run_id)
        if run is None:
            return []
        parts = [row.preface]
        for piece in rendering_of(run, self._service).take(await read_frames(self._database, run.id, row.after)):
            if piece.kind == "text":
                parts[-1] += piece.text
            elif piece.kind == "approval":
                parts.append("")
        return parts


def named(name: str) -> str:
    """Return the digest of a client's name for a conversation; no conversation has it."""
    return sha256(b"name " + name.encode("utf-8", "replace")).hexdigest()


def _missed(parts: Sequence[str], told: str) -> str:
    """Return the text after the question at which the client's answer ends; nothing if it ends elsewhere."""
    ends = (at for at in range(1, len(parts)) if words_of("".join(parts[:at])) == told)
    return "".join(parts[next(ends, len(parts)) :])


def words_of(text: str) -> str:
    """Return a text without the signs that clients, and the page's address, may change."""
    return _SIGNS.sub("", _ADDRESS.sub("", _THOUGHTS.sub("", text)))
