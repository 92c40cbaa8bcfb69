"""Reads many files with a language model: each for itself, several at once, and then brings the answers together."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import anyio

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import (
    DeclinedError,
    DriveError,
    LanguageModelFailedError,
    NotFoundError,
    UnsupportedContentError,
)
from drive_server.kernel.texts import Language
from drive_server.models.contents import TextRange
from drive_server.services.documents.service import DocumentService
from drive_server.services.map_reduce.findings import TEXTS, Finding, Outcome, coverage_of, failed, in_order
from drive_server.services.map_reduce.language_model import (
    LanguageModel,
    ModelDeclinedError,
    ModelError,
    ModelLostError,
    Pause,
    RetryingModel,
)
from drive_server.services.map_reduce.prompts import (
    BRING_TOGETHER,
    JOIN_PARTS,
    READ,
    Part,
    Reply,
    Task,
    answer_section,
    file_section,
    find_quote,
    parts_of,
    reply_of,
)
from drive_server.services.map_reduce.selection import Choice, FileSelector, Named
from drive_server.services.progress import Progress
from drive_server.services.text.excerpts import run_in_thread
from drive_server.services.tree.names import display_name

MAX_CHARACTERS: Final = 600_000
"""The most characters of a file that are read: 25 parts."""
MAX_TOKENS: Final = 2_000
"""More than an answer has: models that think first need some for that."""
MAX_ANSWER_CHARACTERS: Final = 3_000
MODEL_FAILED, DECLINED = "model_failed", "declined"


class FileReader:
    """Reads one file after another for a task. Several can be read at once."""

    def __init__(self, documents: DocumentService, actor: Actor, task: Task, model: RetryingModel) -> None:
        self._documents = documents
        self._actor = actor
        self._task = task
        self._model = model

    async def read(self, file: Named) -> Finding:
        """Return the file's finding on the task, or why it could not be read. Raises `ModelLostError`."""
        try:
            found = await self._documents.read_text(self._actor, file.ref, limit=MAX_CHARACTERS)
        except DriveError as error:
            return failed(file.label, str(error.details.get("state", error.code)), error.message)
        parts = await run_in_thread(len(found.text), parts_of, found.text)
        try:
            replies = [await self._reply(found, part, number, len(parts)) for number, part in enumerate(parts, 1)]
            return await self._finding(found, list(zip(parts, replies, strict=True)))
        except ModelLostError:
            raise
        except ModelError as error:
            return failed(found.item.path, MODEL_FAILED, error.reason)

    async def _reply(self, found: TextRange, part: Part, number: int, count: int) -> Reply:
        content = file_section(found.item.path, part.text, number, count)
        prompt = f"{self._task.section()}\n{content}"
        said = await self._model.complete(self._task.with_language(READ), prompt, MAX_TOKENS)
        return reply_of(said)

    async def _finding(self, found: TextRange, replies: Sequence[tuple[Part, Reply]]) -> Finding:
        answers = [reply.answer for _, reply in replies if reply.answer]
        answer = answers[0] if len(answers) == 1 else await self._joined(answers)
        quoted = await run_in_thread(len(found.text), _quoted, replies)
        quote, place = quoted or ("", None)
        return Finding(
            path=found.item.path,
            status="answered" if answers else "nothing",
            file_id=found.item.id,
            version=found.version,
            answer=answer[:MAX_ANSWER_CHARACTERS],
            quote=quote,
            start=place[0] if place else None,
            end=place[1] if place else None,
            line=found.text.count("\n", 0, place[0]) + 1 if place else None,
            read_characters=found.end,
            characters=found.total_characters,
            omissions=dict(found.omissions),
        )

    async def _joined(self, answers: Sequence[str]) -> str:
        if not answers:
            return ""
        sections = "\n".join(answer_section(f"part {number}", answer) for number, answer in enumerate(answers, 1))
        text = f"{self._task.section()}\n<answers>\n{sections}\n</answers>"
        try:
            return await self._model.complete(self._task.with_language(JOIN_PARTS), text, MAX_TOKENS)
        except ModelLostError:
            raise
        except ModelError:
            return "\n".join(answers)  # less well put, and all there


def not_read(file: Named, lost: ModelLostError) -> Finding:
    """Return the finding for a file after the model was lost."""
    return failed(file.label, DECLINED if isinstance(lost, ModelDeclinedError) else MODEL_FAILED, lost.reason)


def _quoted(replies: Sequence[tuple[Part, Reply]]) -> tuple[str, tuple[int, int]] | None:
    """Return the first quotation that stands in the file as the model says, as it stands there."""
    for part, reply in replies:
        place = find_quote(reply.quote, part) if reply.answer else None
        if place is not None:
            return part.text[place[0] - part.start : place[1] - part.start], place
    return None


MAX_REQUEST_CHARACTERS: Final = 24_000
"""The most characters of answers in one request, but at least two answers."""
MAX_TEXT_CHARACTERS: Final = 6_000
"""The longest answer that is taken: four of them fit into one request."""
MAX_LISTED_CHARACTERS: Final = 6_000
MAX_REDUCE_TOKENS: Final = 4_000


async def reduce_findings(findings: Sequence[Finding], task: Task, model: RetryingModel) -> tuple[str, str]:
    """Return the answers as one text, and why they were only listed, empty if they were brought together."""
    answered = [finding for finding in findings if finding.answer]
    if not answered:
        read = sum(finding.is_read for finding in findings)
        return _none(read, task.texts), ""
    if len(answered) == 1 and not task.how:
        return list_answers(answered), ""
    try:
        return await _reduce(findings, task, model), ""
    except ModelError as error:
        return list_answers(answered), TEXTS.say("not_joined", task.texts, reason=error.reason)


def list_answers(findings: Sequence[Finding]) -> str:
    """Return the answers one after the other, each with its file, as many as fit."""
    text = "\n".join(f"- {display_name(one.path)}: {one.answer}" for one in findings if one.answer)
    return text if len(text) <= MAX_LISTED_CHARACTERS else f"{text[:MAX_LISTED_CHARACTERS]}…"


async def _reduce(findings: Sequence[Finding], task: Task, model: RetryingModel) -> str:
    sections = [answer_section(one.path, one.answer) for one in findings if one.answer]
    while True:
        batches = _batches(sections)
        texts = [await _one_of(batch, findings, task, model) for batch in batches]
        if len(texts) == 1:
            return texts[0]
        sections = [answer_section(f"group {number}", text) for number, text in enumerate(texts, 1)]


async def _one_of(sections: Sequence[str], findings: Sequence[Finding], task: Task, model: RetryingModel) -> str:
    read, answered = sum(one.is_read for one in findings), sum(bool(one.answer) for one in findings)
    counts = f"<counts>\n{len(findings)} files, {read} read, {answered} of them with an answer\n</counts>"
    answers = "\n".join(sections)
    text = f"{task.section()}\n{counts}\n<answers>\n{answers}\n</answers>"
    return (await model.complete(task.with_language(BRING_TOGETHER), text, MAX_REDUCE_TOKENS))[:MAX_TEXT_CHARACTERS]


def _batches(sections: Sequence[str]) -> list[list[str]]:
    """Return the sections in their order, in as many requests as it takes; each but the last has two at least."""
    batches: list[list[str]] = []
    size = 0
    for section in sections:
        if not batches or (len(batches[-1]) > 1 and size + len(section) > MAX_REQUEST_CHARACTERS):
            batches.append([])
            size = 0
        batches[-1].append(section)
        size += len(section)
    return batches


def _none(read: int, language: Language) -> str:
    return TEXTS.say("nothing_found", language, count=read) if read else TEXTS.say("no_files", language)


NOT_FOUND: Final = "not_found"
GONE: Final = "access to it ended while it was read"
LATER: Final = "Try again later, or read a few of the files with read_file."
OTHERWISE: Final = "Ask the person, or read a few of the files with read_file."

Verify = Callable[[], Awaitable[object]]


class MapReduceService:
    """Reads as many files at once as `concurrency` says; `pause` waits for some seconds."""

    def __init__(
        self, documents: DocumentService, selector: FileSelector, concurrency: int, pause: Pause = anyio.sleep
    ) -> None:
        self._documents = documents
        self._selector = selector
        self._concurrency = concurrency
        self._pause = pause

    async def read(
        self, actor: Actor, choice: Choice, task: Task, model: LanguageModel, *, progress: Progress, verify: Verify
    ) -> Outcome:
        """Return the files' findings on the task. The last step of `progress` combines the answers.

        `verify` raises if the caller may not call any more: it is asked before each file. A file that can't be read
        fails alone. Raises `DeclinedError`, `LanguageModelFailedError`, `UnsupportedContentError` or `NotFoundError` if
        there are files and none could be read, and as `FileSelector.choose` does.
        """
        chosen = await self._selector.choose(actor, choice)
        retrying = RetryingModel(model, self._pause)
        reader = FileReader(self._documents, actor, task, retrying)
        findings = await _Round(reader, chosen.files, progress, verify).read_all(self._concurrency, retrying)
        findings = in_order(await self._filter_visible(actor, findings))
        coverage = coverage_of(findings, chosen.fitting, task.texts)
        if findings and not any(finding.is_read for finding in findings):
            raise _nothing_read(findings, coverage)
        text, note = await reduce_findings(findings, task, retrying)
        await progress(len(findings) + 1, len(findings) + 1)
        return Outcome(text, note, coverage, retrying.name, tuple(findings), chosen.fitting)

    async def _filter_visible(self, actor: Actor, findings: Sequence[Finding]) -> list[Finding]:
        """Withdraw the findings of files that the caller may not read any more."""
        visible = {None, *await self._selector.filter_visible(actor, [one.file_id for one in findings if one.file_id])}
        return [one if one.file_id in visible else failed(one.path, NOT_FOUND, GONE) for one in findings]


class _Round:
    """One reading of all files."""

    def __init__(self, reader: FileReader, files: Sequence[Named], progress: Progress, verify: Verify) -> None:
        self._reader = reader
        self._files = files
        self._progress = progress
        self._verify = verify
        self._next = 0
        self._findings: dict[int, Finding] = {}
        self._refusal: DriveError | None = None

    async def read_all(self, concurrency: int, model: RetryingModel) -> list[Finding]:
        """Return the findings of the files, in their order. Raises the error of `verify`."""
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
                await self._verify()
                self._findings[place] = await self._reader.read(self._files[place])
            except ModelLostError:
                self._next = len(self._files)  # others' present questions are answered, or lost as well
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
