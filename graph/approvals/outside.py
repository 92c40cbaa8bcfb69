"""Run a call of a person's own server, once.

Such a server has no idempotency keys: a call that was sent before a crash, and whose answer is not on record, is not
sent again. What it answers is text from outside, whatever it says of itself: its `_meta` is not read.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
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

from graph.context import RunContext
from graph.drive.connections import OnProgress
from graph.limits.limits import result_text
from graph.messages.others import mark
from graph.messages.records import SENT, announce
from graph.messages.stored_results import ResultStore
from graph.messages.written import Outcome, add_messages, report, result_message
from graph.prompts import compact
from graph.servers.names import ToolName
from graph.servers.offered import Offers
from graph.servers.pins import cleaned
from graph.servers.reasons import ServerUnavailableError
from graph.state import Call, Language, OutsideCall, Taint, Update
from graph.tools.results import offload_result

SENT_MARK: Final = "sent"
TEXTS: Final[Mapping[str, Mapping[Language, str]]] = {
    "gone": {
        "en": "not_offered: This tool was switched off, changed or taken away since. The call was not made.",
        "zh": "not_offered：此工具已被停用、更改或移除，没有调用。",
    },
    "unavailable": {
        "en": "server_unavailable: {sentence} The call was not made.",
        "zh": "server_unavailable：{sentence} 没有调用。",
    },
    "unknown": {
        "en": "server_unavailable: {sentence} The call may or may not have been carried out, and nothing takes it "
        "back: don't repeat it before you know, or the person says so.",
        "zh": "server_unavailable：{sentence} 这次调用可能已经执行，也可能没有，而且无法撤销："
        "在弄清之前，或者用户没有要求时，不要重复。",
    },
    "interrupted": {
        "en": "interrupted: The service was interrupted after this call was sent. Whether the server carried it out is "
        "unknown, and it was not sent again: don't repeat it before you know, or the person says so.",
        "zh": "interrupted：发送此调用之后服务中断，服务器是否已经执行无法确定，也没有再次发送："
        "在弄清之前，或者用户没有要求时，不要重复。",
    },
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a call. `is_foreign`: the server wrote the text."""

    text: str
    outcome: Outcome
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class OutsideRunner:
    """Runs one call of a run; `limit` are the characters of an answer that a model sees."""

    call: Call
    source: OutsideCall
    run_id: str
    language: Language
    user: RunContext
    limit: int

    async def run(self, offers: Offers | None, store: ResultStore | None, on_progress: OnProgress) -> Update:
        """Return the update with the result, and tell clients of it."""
        begun = perf_counter()
        if offers is None or store is None:
            answer = self._say("gone")
        else:
            answer = await self._answer(offers, store, on_progress)
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
        report(message, round((perf_counter() - begun) * 1000))
        stored = await offload_result(message, answer.text, None, store, self.limit)
        self._announce("done" if answer.outcome == "done" else "error", stored.text)
        return add_messages([stored])

    async def _answer(self, offers: Offers, store: ResultStore, on_progress: OnProgress) -> Answer:
        key = f"{SENT_MARK}:{self.run_id}:{self.call['tool_call_id']}"
        if recorded := await store.get(key):
            self._announce("invoking")
            return self._say("interrupted") if recorded == SENT_MARK else Answer(**json.loads(recorded))
        try:
            definition = await offers.definition_for(self.user, ToolName(self.source["server_id"], self.source["tool"]))
        except ServerUnavailableError as error:
            return self._unavailable("unavailable", error)
        if definition is None:
            return self._say("gone")
        await store.put(key, SENT_MARK)
        self._announce("invoking")
        try:
            result = await offers.pool.call(definition, self.source["tool"], self.call["args"], on_progress=on_progress)
        except ServerUnavailableError as error:
            return self._unavailable("unknown" if error.outcome_unknown else "unavailable", error)
        answer = Answer(text_from(result), "error" if result.isError else "done", is_foreign=True)
        fields = {"text": answer.text, "outcome": answer.outcome, "is_foreign": True}
        await store.put(key, json.dumps(fields, ensure_ascii=False))
        return answer

    def _taint(self) -> Taint:
        name = f"{cleaned(self.source['server_name'])}: {self.source['display_name']}"
        return {"file_id": "", "name": name, "path": name, "origin": "outside"}

    def _say(self, key: str, **said: str) -> Answer:
        return Answer(TEXTS[key][self.language].format(**said), "error")

    def _unavailable(self, key: str, error: ServerUnavailableError) -> Answer:
        return self._say(key, sentence=error.in_language(self.language).sentence)

    def _announce(self, status: Any, response: str = "") -> None:
        announce(self.source, self.call["tool_call_id"], self.call["args"], status, response)


def text_from(result: CallToolResult) -> str:
    """Return what a server answered as text without invisible characters; what is no text is named."""
    parts = [_part(block) for block in result.content]
    data = result.structuredContent
    if data is not None and not any(_says(part, data) for part in parts):
        parts.append(compact(data))
    return cleaned("\n".join(filter(None, parts)))


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
    except ValueError:
        parsed = text
    return parsed == data or data == {"result": parsed} or data == {"result": text}
