"""Reads many files with a language model: each for itself, several at once, and then brings the answers together."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import anyio

from drive_server.access import Actor
from drive_server.errors import (
    DeclinedError,
    DriveError,
    LanguageModelFailedError,
    NotFoundError,
    UnsupportedContentError,
)
from drive_server.services.documents.service import DocumentService
from drive_server.services.map_reduce.findings import Finding, Outcome, coverage_of, failed, in_order
from drive_server.services.map_reduce.language_model import LanguageModel, ModelLostError
from drive_server.services.map_reduce.map_file import DECLINED, MODEL_FAILED, FileReader, not_read
from drive_server.services.map_reduce.prompts import Task
from drive_server.services.map_reduce.reduce import together
from drive_server.services.map_reduce.retrying import PatientModel, Pause
from drive_server.services.map_reduce.selection import BulkChooser, Choice, Named
from drive_server.services.progress import Progress

NOT_FOUND: Final = "not_found"
GONE: Final = "access to it ended while it was read"
LATER: Final = "Try again later, or read a few of the files with read_file."
OTHERWISE: Final = "Ask the person, or read a few of the files with read_file."

Prove = Callable[[], Awaitable[object]]


class BulkService:
    """Reads as many files at once as `concurrency` says; `pause` waits for some seconds."""

    def __init__(
        self, documents: DocumentService, chooser: BulkChooser, concurrency: int, pause: Pause = anyio.sleep
    ) -> None:
        self._documents = documents
        self._chooser = chooser
        self._concurrency = concurrency
        self._pause = pause

    async def read(
        self, actor: Actor, choice: Choice, task: Task, model: LanguageModel, *, progress: Progress, prove: Prove
    ) -> Outcome:
        """Return what the files say on the task. The last step that is told to `progress` brings it together.

        `prove` raises if the caller may not call any more: it is asked before each file. A file that can't be read
        fails alone. Raises `DeclinedError`, `LanguageModelFailedError`, `UnsupportedContentError` or `NotFoundError`
        if there are files and none could be read, and what `BulkChooser.choose` raises.
        """
        chosen = await self._chooser.choose(actor, choice)
        patient = PatientModel(model, self._pause)
        reader = FileReader(self._documents, actor, task, patient)
        findings = await _Round(reader, chosen.files, progress, prove).read_all(self._concurrency, patient)
        findings = in_order(await self._still_seen(actor, findings))
        coverage = coverage_of(findings, chosen.fitting, chinese=task.is_chinese)
        if findings and not any(finding.is_read for finding in findings):
            raise _nothing_read(findings, coverage)
        text, note = await together(findings, task, patient)
        await progress(len(findings) + 1, len(findings) + 1)
        return Outcome(text, note, coverage, patient.name, tuple(findings), chosen.fitting)

    async def _still_seen(self, actor: Actor, findings: Sequence[Finding]) -> list[Finding]:
        """Take back what was read of files that the caller may not read any more."""
        seen = await self._chooser.still_seen(actor, [one.file_id for one in findings if one.file_id])
        return [
            one if one.file_id is None or one.file_id in seen else failed(one.path, NOT_FOUND, GONE) for one in findings
        ]


class _Round:
    """One reading of all files."""

    def __init__(self, reader: FileReader, files: Sequence[Named], progress: Progress, prove: Prove) -> None:
        self._reader = reader
        self._files = files
        self._progress = progress
        self._prove = prove
        self._next = 0
        self._findings: dict[int, Finding] = {}
        self._refusal: DriveError | None = None

    async def read_all(self, concurrency: int, model: PatientModel) -> list[Finding]:
        """Return what each file said, in their order. Raises what `prove` raised."""
        async with anyio.create_task_group() as group:
            for _ in range(min(concurrency, len(self._files))):
                group.start_soon(self._work, group.cancel_scope)
        if self._refusal is not None:
            raise self._refusal
        lost = model.lost or ModelLostError("the model is not there any more")
        return [self._findings.get(place) or not_read(file, lost) for place, file in enumerate(self._files)]

    async def _work(self, scope: anyio.CancelScope) -> None:
        """Read file after file; nobody reads on once it makes no sense any more."""
        while self._next < len(self._files):
            place = self._next
            self._next += 1
            try:
                await self._prove()
                self._findings[place] = await self._reader.read(self._files[place])
            except ModelLostError:
                self._next = len(self._files)  # what others are asking now is answered, or lost as well
                return
            except DriveError as error:
                self._refusal = error
                scope.cancel()
                return
            await self._progress(len(self._findings), len(self._files) + 1)


def _nothing_read(findings: Sequence[Finding], coverage: str) -> DriveError:
    codes = {finding.code for finding in findings}
    details = {"failed": len(findings), "codes": sorted(codes)}
    if DECLINED in codes:
        return DeclinedError(f"The host's model was not to be used. {coverage}", hint=OTHERWISE, details=details)
    if MODEL_FAILED in codes:
        return LanguageModelFailedError(f"The model read no file. {coverage}", hint=LATER, details=details)
    kind = NotFoundError if codes == {NOT_FOUND} else UnsupportedContentError
    return kind(f"No file could be read. {coverage}", hint="Name other files, or search for them.", details=details)
