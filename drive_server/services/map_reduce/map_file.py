"""One file of many, read by a language model: its text by the caller's rights, in parts, and the answer to the task."""

from collections.abc import Sequence
from typing import Final

from drive_server.access import Actor
from drive_server.errors import DriveError
from drive_server.models import TextRange
from drive_server.services.documents.service import DocumentService
from drive_server.services.map_reduce.findings import Finding, failed
from drive_server.services.map_reduce.language_model import ModelDeclinedError, ModelError, ModelLostError
from drive_server.services.map_reduce.prompts import (
    JOIN_PARTS,
    READ,
    Part,
    Reply,
    Task,
    answer_section,
    file_section,
    parts_of,
    reply_of,
    standing,
)
from drive_server.services.map_reduce.retrying import PatientModel
from drive_server.services.map_reduce.selection import Named
from drive_server.services.text.excerpts import apart

MOST_CHARACTERS: Final = 600_000
"""So much of each file is read: 25 parts."""
MOST_TOKENS: Final = 2_000
"""More than an answer has: models that think first need some for that."""
MOST_ANSWER_CHARACTERS: Final = 3_000
MODEL_FAILED, DECLINED = "model_failed", "declined"


class FileReader:
    """Reads one file after another for a task. Several can be read at once."""

    def __init__(self, documents: DocumentService, actor: Actor, task: Task, model: PatientModel) -> None:
        self._documents = documents
        self._actor = actor
        self._task = task
        self._model = model

    async def read(self, file: Named) -> Finding:
        """Return what the file says on the task, or why it could not be read. Raises `ModelLostError`."""
        try:
            found = await self._documents.read_text(self._actor, file.ref, limit=MOST_CHARACTERS)
        except DriveError as error:
            return failed(file.label, str(error.details.get("state", error.code)), error.message)
        parts = await apart(len(found.text), parts_of, found.text)
        try:
            replies = [await self._reply(found, part, number, len(parts)) for number, part in enumerate(parts, 1)]
            return await self._finding(found, list(zip(parts, replies, strict=True)))
        except ModelLostError:
            raise
        except ModelError as error:
            return failed(found.item.path, MODEL_FAILED, error.reason)

    async def _reply(self, found: TextRange, part: Part, number: int, count: int) -> Reply:
        content = file_section(found.item.path, part.text, number, count)
        said = await self._model.complete(self._task.told(READ), f"{self._task.section()}\n{content}", MOST_TOKENS)
        return reply_of(said)

    async def _finding(self, found: TextRange, replies: Sequence[tuple[Part, Reply]]) -> Finding:
        answers = [reply.answer for _, reply in replies if reply.answer]
        answer = answers[0] if len(answers) == 1 else await self._joined(answers)
        quoted = await apart(len(found.text), _quoted, replies)
        quote, place = quoted or ("", None)
        return Finding(
            path=found.item.path,
            status="answered" if answers else "nothing",
            file_id=found.item.id,
            version=found.version,
            answer=answer[:MOST_ANSWER_CHARACTERS],
            quote=quote,
            start=place[0] if place else None,
            end=place[1] if place else None,
            line=found.text.count("\n", 0, place[0]) + 1 if place else None,
            read_characters=found.end,
            characters=found.total_characters,
        )

    async def _joined(self, answers: Sequence[str]) -> str:
        if not answers:
            return ""
        sections = "\n".join(answer_section(f"part {number}", answer) for number, answer in enumerate(answers, 1))
        text = f"{self._task.section()}\n<answers>\n{sections}\n</answers>"
        try:
            return await self._model.complete(self._task.told(JOIN_PARTS), text, MOST_TOKENS)
        except ModelLostError:
            raise
        except ModelError:
            return "\n".join(answers)  # less well put, and all there


def not_read(file: Named, lost: ModelLostError) -> Finding:
    """Return what is told of a file that nobody was left to read."""
    return failed(file.label, DECLINED if isinstance(lost, ModelDeclinedError) else MODEL_FAILED, lost.reason)


def _quoted(replies: Sequence[tuple[Part, Reply]]) -> tuple[str, tuple[int, int]] | None:
    """Return the first quotation that stands in the file as the model says, as it stands there."""
    for part, reply in replies:
        place = standing(reply.quote, part) if reply.answer else None
        if place is not None:
            return part.text[place[0] - part.start : place[1] - part.start], place
    return None
