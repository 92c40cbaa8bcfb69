"""The dialects of services: the rules of chat completions that each one changes, learnt from its refusals.

A rule is learnt once for an address and a model, from a refusal that names it, and then every request keeps it. The
table is a small file, so that no restart asks again; rules are forgotten after a month, as services change.
"""

import json
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final, cast
from urllib.parse import urlsplit, urlunsplit

from drive_server.kernel.files.file_locks import wait_for_lock
from graph.models.cache_marks import mark_body, remove_marks

logger = logging.getLogger(__name__)

FILE_NAME: Final = "model_services.json"
REASONING: Final = "reasoning_content"
"""The field of a message, here and at the services, that has the model's thoughts before it answered."""
MEMORY: Final = timedelta(days=30)
SHORT_ID: Final = re.compile(r"[A-Za-z0-9]{9}")
SHORT_LENGTH: Final = 9
JSON_SCHEMA, TOOL_CHOICE, TOOLS = "json_schema", "tool_choice", "tools"
"""Names of the rules that `structured.py` keeps."""
PICTURES: Final = "pictures"
"""Name of the rule that the specialists keep."""
_TEMPLATE: Final = re.compile(r"jinja|template|NoneType|tool call ids", re.IGNORECASE)
BARE_THOUGHTS: Final = "bare_thoughts"
"""Name of the rule that the reader of answers keeps."""

Body = dict[str, Any]
Service = tuple[str, str]
"""An address, and a model there."""
Learnt = MutableMapping[str, str]
"""The names of rules with the day on which each was learnt (ISO 8601)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of some services. `words` are those of a refusal for breaking it; `description` is for people.

    `keep` makes a body keep the rule and says whether that changed anything; a rule without it changes something other
    than the body.
    """

    name: str
    words: re.Pattern[str]
    description: str
    keep: Callable[[Body], bool] | None = None


class Dialect:
    """The rules of a service for one model: those known before, and those learnt. `remember` gets each new one."""

    def __init__(
        self,
        learnt: Learnt | None = None,
        remember: Callable[[str], None] | None = None,
        known: Collection[str] = (),
    ) -> None:
        self._learnt: Learnt = {} if learnt is None else learnt
        self._remember = remember
        self._known = known

    def has(self, name: str) -> bool:
        """Say whether the service is known to have the rule."""
        return name in self._learnt or name in self._known

    def learn(self, name: str) -> None:
        """Note that the service has the rule."""
        if self.has(name):
            return
        logger.warning("The model's service %s; this is remembered.", RULES[name].description)
        if self._remember:
            self._remember(name)
        else:
            self._learnt[name] = ""

    def adapt(self, body: Body) -> Body:
        """Return the body, changed in place, so that it keeps the rules that were learnt."""
        if not self.has(REASONING) or self.has(NO_REASONING):
            _leave_out_reasoning(body)
        # The known ones first: a refusal that was learnt later takes back their additions.
        for name in (*self._known, *self._learnt):
            if keep := RULES[name].keep:
                keep(body)
        return body

    def learn_from(self, refusal: str, body: Body) -> bool:
        """Learn the rules that the body was refused for. Return whether there is any: then another try makes sense."""
        broken = [rule for rule in RULES.values() if not self.has(rule.name) and _breaks(rule, refusal, body)]
        for rule in broken:
            self.learn(rule.name)
        return bool(broken)


class Dialects:
    """The dialects of all services, in a file if a path is given; a thread writes it, one state after another."""

    def __init__(self, path: Path | None = None, today: Callable[[], date] = lambda: datetime.now(UTC).date()) -> None:
        self._path = path
        self._today = today
        self._table: dict[Service, Learnt] = {}
        self._writer = ThreadPoolExecutor(1, "dialects")
        self._written: Future[None] | None = None
        for service, learnt in read_learnt(path, today()) if path else ():
            self._table[service] = learnt

    def of(self, url: str, model: str, known: Collection[str] = ()) -> Dialect:
        """Return the dialect of the service at the address for the model; asked again, one with the same memory."""
        learnt = self._table.setdefault((public_address(url), model), {})

        def remember(name: str) -> None:
            learnt[name] = self._today().isoformat()
            self._save()

        return Dialect(learnt, remember, known)

    def flush(self) -> None:
        """Wait until all that was learnt is in the file."""
        if self._written:
            self._written.result()

    def _save(self) -> None:
        if self._path is None:
            return
        table = {service: dict(learnt) for service, learnt in self._table.items() if learnt}
        self._written = self._writer.submit(_write, self._path, table, self._today())


def _write(path: Path, table: Mapping[Service, Mapping[str, str]], today: date) -> None:
    """Write the table, merged with rules that other processes have learnt meanwhile: one process writes at a time."""
    try:
        with path.with_suffix(".lock").open("a") as lock:
            wait_for_lock(lock)
            joined: dict[Service, Learnt] = dict(read_learnt(path, today))
            for service, learnt in table.items():
                before = joined.get(service, {})
                newer = {name: max(before.get(name, ""), day) for name, day in learnt.items()}
                joined[service] = {**before, **newer}
            _replace(path, [{"url": url, "model": model, "learnt": rules} for (url, model), rules in joined.items()])
    except OSError as error:
        # It is learnt again after the next start.
        logger.warning("%s can't be written: %s", path, error.strerror)


def _replace(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    with NamedTemporaryFile(dir=path.parent, suffix=".partial", delete=False) as file:
        partial = Path(file.name)
    try:
        partial.write_text(json.dumps([row for row in rows if row["learnt"]], indent=1), encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read_learnt(path: Path, today: date) -> Iterator[tuple[Service, Learnt]]:
    """Yield the learnt rules of each service, without those that are too old; nothing if it can't be read."""
    oldest = (today - MEMORY).isoformat()
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        for row in rows:
            learnt = cast("Mapping[str, str]", row["learnt"])
            yield (
                (str(row["url"]), str(row["model"])),
                {name: day for name, day in learnt.items() if name in RULES and day >= oldest},
            )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return


def public_address(url: str) -> str:
    """Return the address without a slash at its end, and without the name and password that may be in it."""
    parts = urlsplit(url.rstrip("/"))
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def is_of_template(refusal: str) -> bool:
    """Say whether the model's chat template refused a request: some servers tell that as a fault of theirs."""
    return _TEMPLATE.search(refusal) is not None


def short_id(key: str) -> str:
    """Return an id of 9 letters and digits for a call: the same for the same one."""
    return key if SHORT_ID.fullmatch(key) else sha256(key.encode()).hexdigest()[:SHORT_LENGTH]


def _breaks(rule: Rule, refusal: str, body: Body) -> bool:
    """Say whether the body was refused for the rule: the refusal names it, and there is something to change."""
    return rule.keep is not None and rule.words.search(refusal) is not None and rule.keep(body)


def _leave_out(name: str) -> Callable[[Body], bool]:
    def keep(body: Body) -> bool:
        return body.pop(name, None) is not None

    return keep


def _rename_limit(body: Body) -> bool:
    limit = body.pop("max_completion_tokens", None)
    if limit is not None:
        body["max_tokens"] = limit
    return limit is not None


def _shorten_ids(body: Body) -> bool:
    changed = False
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            before, call["id"] = call["id"], short_id(str(call["id"]))
            changed = changed or before != call["id"]
        if "tool_call_id" in message:
            message["tool_call_id"] = short_id(str(message["tool_call_id"]))
    return changed


def _fill_content(body: Body) -> bool:
    empty = [message for message in body["messages"] if message.get("content", "") is None]
    for message in empty:
        message["content"] = ""
    return bool(empty)


def _name_results(body: Body) -> bool:
    """Name the tool in each result, as templates that know no ids of calls want it."""
    calls = (call for message in body["messages"] for call in message.get("tool_calls") or ())
    names = {call["id"]: call["function"]["name"] for call in calls}
    unnamed = [one for one in body["messages"] if one.get("tool_call_id") in names and "name" not in one]
    for message in unnamed:
        message["name"] = names[message["tool_call_id"]]
    return bool(unnamed)


def _send_reasoning(body: Body) -> bool:
    """Leave the reasoning only in the turn that goes on: there it is demanded of every message with calls."""
    messages: list[Body] = body["messages"]
    begun = max((place for place, message in enumerate(messages) if message["role"] == "user"), default=-1)
    for message in messages[: begun + 1]:
        message.pop(REASONING, None)
    calling = [message for message in messages[begun + 1 :] if message.get("tool_calls")]
    for message in calling:
        message.setdefault(REASONING, "")
    return bool(calling)


def _leave_out_reasoning(body: Body) -> bool:
    removed = [message.pop(REASONING, None) for message in body["messages"]]
    return any(reasoning is not None for reasoning in removed)


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


NO_REASONING: Final = "no_reasoning_content"
_UNWANTED: Final = "(?:unsupported|unknown|unexpected|extra|not (?:allowed|permitted|supported))"
_PICTURE: Final = (
    r"(?:image|vision|picture|multi.?modal)(?!\w*.{0,40}(?:format|media|mime|size|exceed|large|dimension|corrupt))"
)
"""Named by who takes no pictures at all, not by who can't read this one."""
_NO_TEXT: Final = "NoneType|'None' has no attribute|None has no element"
"""Jinja's words for a template that joins a missing text to another."""
_LISTED: Final = (
    Rule("temperature", _words("temperature"), "takes no temperature", _leave_out("temperature")),
    Rule(
        "parallel_tool_calls",
        _words("parallel.?tool.?call"),
        "does not let the client say whether calls are parallel",
        _leave_out("parallel_tool_calls"),
    ),
    Rule("stream_options", _words("stream_options"), "is not asked for its usage", _leave_out("stream_options")),
    Rule(
        "max_completion_tokens",
        _words("max_completion_tokens"),
        "calls the limit of an answer max_tokens",
        _rename_limit,
    ),
    Rule(
        "tool_call_id",
        _words(r"tool.?call.?id.{0,200}\blength\b.{0,20}\b9\b"),
        "wants ids of 9 letters and digits for tool calls",
        _shorten_ids,
    ),
    Rule(
        "content",
        _words(
            r"\bcontent\b.{0,200}(?:null|none|string|required|missing|empty)|(?:null|none|missing).{0,60}\bcontent\b"
            rf"|{_NO_TEXT}"
        ),
        "wants an empty text beside tool calls, not none",
        _fill_content,
    ),
    Rule("tool_names", _words("'name' must be provided"), "wants the tool's name beside its result", _name_results),
    Rule(
        NO_REASONING,
        _words(
            "remove the reasoning_content"
            f"|{_UNWANTED}.{{0,200}}reasoning_content|reasoning_content.{{0,200}}{_UNWANTED}"
        ),
        "takes no reasoning back",
        _leave_out_reasoning,
    ),
    Rule(
        REASONING,
        _words(r"reasoning_content.{0,120}(?:missing|must|required)|missing.{0,60}reasoning_content"),
        "wants its reasoning back with the results of tools",
        _send_reasoning,
    ),
    Rule(
        JSON_SCHEMA,
        _words(r"response_format|json.?(?:schema|mode)|structured output|grammar"),
        "takes no JSON schema",
    ),
    Rule(
        TOOL_CHOICE,
        _words(r"tool.?choice|forces? tool|tool use|\btools\b"),
        "refuses tool_choice, so it is asked with `auto`, and may answer with JSON in its text",
    ),
    Rule(
        PICTURES,
        _words(
            rf"{_PICTURE}.{{0,120}}(?:not support|only support|not (?:accept|allow|available|enabled)|unsupported)"
            rf"|(?:not support|n't support|support\w*|unsupported|unknown variant|invalid content).{{0,80}}{_PICTURE}"
            r"|unsupported content|\bcontent\b.{0,80}(?:must be a string|expected (?:a )?string|valid string)"
        ),
        "takes no pictures",
    ),
    Rule(TOOLS, _words(r"\btools?\b|function.?call"), "takes no tools for answers of a shape"),
    Rule("cache_marks", _words("(?!)"), "keeps in its cache the requests of Claude that are marked", mark_body),
    Rule("no_cache_marks", _words("cache_control"), "takes no marks for its cache", remove_marks),
    Rule(BARE_THOUGHTS, _words("(?!)"), "ends the model's thoughts in the text without having begun them"),
)
RULES: Final[Mapping[str, Rule]] = {rule.name: rule for rule in _LISTED}
