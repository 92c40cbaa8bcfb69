"""Run a call of a person's own server, once.

Such a server has no idempotency keys: a call that was sent before a crash, and whose answer is not on record, is not
sent again. While its server asks the person something, the call is held (`asking`). Its answer is text from outside,
even if it claims otherwise: its `_meta` is not read.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from drive_server.kernel.texts import Texts
from graph.approvals.asking import Asker, emit_lost_question
from graph.clock import Clock
from graph.context import RunContext
from graph.drive.connections import OnProgress
from graph.language import Language
from graph.limits.limits import result_text
from graph.messages.others import mark
from graph.messages.records import SENT, announce
from graph.messages.stored_results import ResultStore, sent_key
from graph.messages.written import Outcome, add_messages, report, result_message
from graph.prompts import compact
from graph.servers.connections.blocks import META_NOT_SHOWN
from graph.servers.definition import ServerDefinition
from graph.servers.elicitation.held import CallKey, HeldCall
from graph.servers.elicitation.questions import MAX_QUESTIONS, UrlsRequiredError
from graph.servers.names import ToolName
from graph.servers.offered import Offers
from graph.servers.pins import cleaned
from graph.servers.reasons import ServerUnavailableError, timed_out
from graph.state import Call, OutsideCall, Taint, Update
from graph.tools.results import offload_result

SENT_MARK: Final = "sent"
ASKED_MARK: Final = "asked "
"""Before the id of the approval that waits: the call was sent, and its server asks something."""
TEXTS: Final = Texts.beside(__file__)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a call. `is_foreign`: the server wrote the text."""

    text: str
    outcome: Outcome
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class OutsideRunner:
    """Runs one call of a run; `limit` are the characters of an answer that a model sees.

    `task_id` is the task of the graph that does it, `ttl` the seconds that a question to the person waits.
    """

    call: Call
    source: OutsideCall
    run_id: str
    language: Language
    user: RunContext
    limit: int
    task_id: str
    now: Clock
    ttl: int

    async def run(self, offers: Offers | None, store: ResultStore | None, on_progress: OnProgress) -> Update:
        """Return the update with the result, and tell clients of it; an empty one if the call goes on meanwhile."""
        begun = perf_counter()
        if offers is None or store is None:
            answer = self._say("gone")
        elif (held := offers.pool.held.get(self.run_id, self.call["tool_call_id"])) is not None:
            begun, answer = held.begun, await self._outcome(offers, held, store, on_progress)
        else:
            answer = await self._answer(offers, store, on_progress)
        return {} if answer is None else await self._finished(answer, store, round((perf_counter() - begun) * 1000))

    async def _finished(self, answer: Answer, store: ResultStore | None, duration_ms: int) -> Update:
        message = result_message(
            self.call["tool_call_id"],
            self.call["name"],
            result_text(answer.text, None, self.limit),
            answer.outcome,
            [self._taint()] if answer.is_foreign else (),
        )
        message.additional_kwargs[SENT] = self.call["args"]
        others = self.source["others"]
        message = mark(message, others, others)
        report(message, duration_ms)
        stored = await offload_result(message, answer.text, None, store, self.limit)
        self._announce("done" if answer.outcome == "done" else "error", stored.text)
        return add_messages([stored])

    async def _answer(self, offers: Offers, store: ResultStore, on_progress: OnProgress) -> Answer | None:
        if recorded := await store.get(self._mark):
            self._announce("invoking")
            return self._recorded(recorded)
        try:
            tool = ToolName(self.source["server_id"], self.source["tool"])
            definition = await offers.definition_for(self.user, tool, self.source.get("agreed", ""))
        except ServerUnavailableError as error:
            return self._unavailable("unavailable", error)
        if definition is None:
            return self._say("gone")
        await store.put(self._mark, SENT_MARK)
        self._announce("invoking")
        held = offers.pool.held.start(
            CallKey(self.run_id, self.call["tool_call_id"], (definition.user_id, definition.id)),
            lambda held: self._make(offers, store, definition, held),
            attended=self.user.mode == "attended",
            most_seconds=definition.timeout + (MAX_QUESTIONS + 1) * self.ttl,
        )
        return await self._outcome(offers, held, store, on_progress)

    def _recorded(self, recorded: str) -> Answer:
        """Return the outcome of a call that another process made."""
        if recorded == SENT_MARK:
            return self._say("interrupted")
        if recorded.startswith(ASKED_MARK):
            emit_lost_question(recorded.removeprefix(ASKED_MARK), self.call["tool_call_id"])
            return self._say("asked")
        return Answer(**json.loads(recorded))

    async def _outcome(
        self, offers: Offers, held: HeldCall, store: ResultStore, on_progress: OnProgress
    ) -> Answer | None:
        """Return the answer of a call that is under way; None if it goes on when the person has answered."""

        async def note(approval_id: str) -> None:
            if not held.task.done():
                await store.put(self._mark, f"{ASKED_MARK}{approval_id}" if approval_id else SENT_MARK)

        calls = offers.pool.held
        asker = Asker(calls, self.call, self.source, self.run_id, self.language, self.task_id, self.now, self.ttl, note)
        held.on_progress = on_progress
        try:
            answer: Answer | None = await asker.outcome(held)
        except TimeoutError:
            answer = self._unavailable("unknown", self._too_long(held))
        finally:
            held.on_progress = None
        if answer is not None:
            calls.forget(held)
        return answer

    async def _make(self, offers: Offers, store: ResultStore, definition: ServerDefinition, held: HeldCall) -> Answer:
        """Make the call, and store its outcome before anything else is done with it."""
        tool, args = self.source["tool"], self.call["args"]
        try:
            result = await offers.pool.call(definition, tool, args, on_progress=held.progress, ask=held.ask)
        except UrlsRequiredError as required:
            visits = [await held.ask(question) for question in required.questions]
            visited = all(visit.action == "accept" for visit in visits)
            answer = self._say("visited" if visited else "not_visited")
        except ServerUnavailableError as error:
            answer = self._unavailable("unknown" if error.outcome_unknown else "unavailable", error)
        else:
            answer = Answer(text_from(result, self.language), "error" if result.isError else "done", is_foreign=True)
        notes = [TEXTS.say(f"outside.note.{note}", self.language) for note in dict.fromkeys(held.notes)]
        answer = replace(answer, text="\n".join([*notes, answer.text]))
        fields = {"text": answer.text, "outcome": answer.outcome, "is_foreign": answer.is_foreign}
        await store.put(self._mark, json.dumps(fields, ensure_ascii=False))
        return answer

    def _too_long(self, held: HeldCall) -> ServerUnavailableError:
        seconds = round(perf_counter() - held.begun)
        return ServerUnavailableError(self.source["server_name"], timed_out(seconds))

    @property
    def _mark(self) -> str:
        return sent_key(self.run_id, self.call["tool_call_id"])

    def _taint(self) -> Taint:
        name = f"{cleaned(self.source['server_name'])}: {self.source['display_name']}"
        return {"file_id": "", "name": name, "path": name, "origin": "outside"}

    def _say(self, key: str, **said: str) -> Answer:
        return Answer(TEXTS.say(f"outside.{key}", self.language, **said), "error")

    def _unavailable(self, key: str, error: ServerUnavailableError) -> Answer:
        return self._say(key, sentence=error.in_language(self.language).sentence)

    def _announce(self, status: Any, response: str = "") -> None:
        announce(self.source, self.call["tool_call_id"], self.call["args"], status, response)


def text_from(result: CallToolResult, language: Language = "en") -> str:
    """Return a server's answer as text without invisible characters; other content is named."""
    parts = [_not_shown(block, language) or _part(block) for block in result.content]
    data = result.structuredContent
    if data is not None and not any(_says(part, data) for part in parts):
        parts.append(compact(data))
    return cleaned("\n".join(filter(None, parts)))


def _not_shown(block: Any, language: Language) -> str:
    kind = (block.meta or {}).get(META_NOT_SHOWN)
    return TEXTS.say("outside.not_shown", language, kind=kind) if isinstance(kind, str) else ""


def _part(block: Any) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return f"[{block.type}, {block.mimeType}, {len(block.data) * 3 // 4} bytes: not shown]"
        case ResourceLink():
            return f"[resource {block.name}: {block.uri}]"
        case EmbeddedResource():
            inner = block.resource
            if isinstance(inner, BlobResourceContents):
                return f"[resource {inner.uri}, {len(inner.blob) * 3 // 4} bytes: not shown]"
            return f"[resource {inner.uri}]\n{inner.text}"
        case _:
            return ""


def _says(text: str, data: Mapping[str, Any]) -> bool:
    """Say whether a text is the same data: servers send both, for clients that read only text."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = text
    return parsed == data or data == {"result": parsed} or data == {"result": text}
