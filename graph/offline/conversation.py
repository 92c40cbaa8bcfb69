"""The messages of a conversation as a model sees them: its sections, both sides' words, the calls with results."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeGuard, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from graph.language import Language, language_of
from graph.messages.compact_results import data_of
from graph.messages.steps import is_step
from graph.messages.written import outcome_of, refusal_of
from graph.offline.understanding.grammar import word
from graph.prompts import TAGS

Item = Mapping[str, Any]
LEFT_OUT, CUT, IN_FULL, MAX_MESSAGE = "[Left out to save room", "\n[Cut: ", "in_full", 600
_CODE: Final = re.compile(r"^(?P<code>[a-z][a-z_]{2,40}): (?P<message>.+)", re.DOTALL)
_CURSOR: Final = re.compile(r"pass cursor (?P<cursor>\S+?)\.?(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Result:
    """One answer of a tool. `failure` is empty if it worked; `code` is the drive's error code."""

    data: Item
    text: str
    failure: str = ""
    code: str = ""
    message: str = ""

    @property
    def worked(self) -> bool:
        """Say whether the tool succeeded."""
        return not self.failure

    def entries(self, name: str) -> list[Item]:
        """Return the objects in a list of the data."""
        value = self.data.get(name)
        return [cast("Item", one) for one in (value if isinstance(value, list) else []) if isinstance(one, Mapping)]

    @property
    def items(self) -> list[Item]:
        """The items of a list."""
        return [item for item in self.entries("items") if is_item(item)]

    @property
    def hits(self) -> list[Item]:
        """The hits of a search, each with the item in `file`."""
        return [hit for hit in self.entries("hits") if is_item(hit.get("file"))]

    @property
    def files(self) -> list[Item]:
        """The items that a search found, each once."""
        return list({str(hit["file"]["id"]): hit["file"] for hit in self.hits}.values())

    def word(self, name: str) -> str:
        """Return a text of the data, empty if it is missing."""
        value = self.data.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """Return a number of the data, 0 if it is missing."""
        value = self.data.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    @property
    def left_out(self) -> bool:
        """Say whether the result, or a part of it, was taken out of the conversation to save room."""
        return self.text.startswith(LEFT_OUT) or CUT in self.text or IN_FULL in self.data

    @property
    def cursor(self) -> str:
        """Return the cursor of the next page, empty at the end."""
        said = _CURSOR.search(self.text)
        return self.word("cursor") or (said["cursor"] if said else "")


def is_item(value: Any) -> TypeGuard[Item]:
    """Say whether a value is a file or a folder."""
    return isinstance(value, Mapping) and isinstance(value.get("id"), str) and value.get("kind") in {"file", "folder"}


def read_result(message: ToolMessage) -> Result:
    """Return the result in a tool message, whichever parts are missing."""
    data, coded = data_of(message.text) or {}, _CODE.match(message.text)
    text = message.text.partition("\n{" if data else "\0")[0]
    if message.status != "error" and not (isinstance(data.get("code"), str) and "message" in data and "id" not in data):
        return Result(data, text)
    outcome = refusal_of(message) or outcome_of(message)
    failure = "error" if data or outcome == "done" else outcome
    code = str(data.get("code") or (coded["code"] if coded else ""))
    said = str(data.get("message") or (coded["message"] if coded else text)).strip()
    return Result(data, text, failure, code, said.split("\n", 1)[0].strip()[:MAX_MESSAGE])


_SECTION: Final = re.compile(rf"^<(?P<tag>{'|'.join(TAGS)})>\n(?P<body>.*?)\n</(?P=tag)>$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sections:
    """The data of the system message, beside its prompt. Items are dicts with `id` and `name` and maybe more."""

    file: Item | None = None
    folder: Item | None = None
    listing: tuple[Item, ...] = ()
    attachments: tuple[Item, ...] = ()
    step: Item = field(default_factory=dict[str, Any])
    earlier_results: tuple[Item, ...] = ()
    plan_so_far: tuple[Item, ...] = ()
    last_run: str = ""
    last_agent: str = ""
    conversation: str = ""
    moment: Item = field(default_factory=dict[str, Any])
    language: Language | None = None

    @property
    def shows_file(self) -> bool:
        """Say whether "it" may be a file that is open, or that was sent along."""
        return self.file is not None or bool(self.attachments)

    @property
    def time_zone(self) -> str:
        """Return the time zone of the person with its offset, empty if it is not known."""
        return str(self.moment.get("time_zone") or "")


def read_sections(system: str) -> Sections:
    """Return the sections of a system message. Tags inside a section are its text, not sections."""
    found = {match["tag"]: match["body"] for match in _SECTION.finditer(system)}
    data = {tag: _parsed(body) for tag, body in found.items()}
    place, language = _mapping(data.get("place")), found.get("language", "").strip()
    folder = {"kind": "folder", **item} if (item := _item(place.get("folder"))) else None
    above = str(folder.get("path") or "").rstrip("/") if folder else ""
    parent = {"parent_id": folder["id"]} if folder else {}
    listing = [item for one in _mappings(data.get("listing")) if (item := _item(one)) and "name" in item]
    return Sections(
        file=_item(place.get("file")), folder=folder,
        listing=tuple({**parent, "path": f"{above}/{item['name']}", **item} for item in listing),
        attachments=tuple(filter(None, map(_item, _mappings(data.get("attachments"))))),
        step=_mapping(data.get("step")), earlier_results=_mappings(data.get("earlier_results")),
        plan_so_far=_mappings(data.get("plan_so_far")), last_run=found.get("last_run", "").strip(),
        last_agent=found.get("last_agent", "").strip(), conversation=found.get("conversation", ""),
        moment=_mapping(data.get("moment")),
        language=cast("Language", language) if language in {"en", "zh"} else None)  # fmt: skip


def _parsed(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _mapping(value: Any) -> Item:
    return cast("Item", value) if isinstance(value, Mapping) else {}


def _mappings(value: Any) -> tuple[Item, ...]:
    return tuple(entry for entry in (value if isinstance(value, list) else []) if isinstance(entry, Mapping))


def _item(value: Any) -> Item | None:
    item = _mapping(value)
    return item if isinstance(item.get("id"), str) and item["id"] else None


READING: Final = frozenset(word("reading").pattern.split("|"))
SEARCHES: Final = frozenset({"search_files", "semantic_search_files"})
NO_SUBJECT: Final = frozenset(["undo_changes", "redo_changes", "list_changes", "list_trash", "empty_trash", "whoami"])
"""Calls after which "it" is not the item that they named."""
NAMING_FOLDERS: Final = frozenset(["create_folder", "get_file_info", "rename_item", "move_item"])


class Call(NamedTuple):
    """A tool call that was made, with its result, None if there is none yet. `turn` counts the person's messages."""

    id: str
    name: str
    args: Mapping[str, Any]
    result: Result | None
    turn: int
    segment: int

    @property
    def reads(self) -> bool:
        """Say whether the tool changes nothing."""
        return self.name in READING


class Said(NamedTuple):
    """A text of the person or of the assistant."""

    by_person: bool
    text: str
    turn: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation. `run_id` is the id of the person's newest message, `turn` its number from 1."""

    sections: Sections
    said: tuple[Said, ...]
    calls: tuple[Call, ...]
    run_id: str
    turn: int
    segment: int
    rounds: int

    @property
    def request(self) -> str:
        """The present request: the plan's step, or the person's last message."""
        step = self.sections.step
        return str(step.get("instruction") or step.get("title") or "") or self.asked

    @property
    def asked(self) -> str:
        """The person's newest message."""
        return next((said.text for said in reversed(self.said) if said.by_person), "")

    @property
    def language(self) -> Language:
        """The language to answer in: as the system message says, else as the person writes."""
        return self.sections.language or language_of(self.asked)

    @property
    def running(self) -> list[Call]:
        """The calls of the running step, or of the turn if it has no plan."""
        return [made for made in self.calls if (made.turn, made.segment) == (self.turn, self.segment)]

    @property
    def earlier(self) -> list[str]:
        """The messages of the person before the newest one, newest first."""
        return [said.text for said in reversed(self.said) if said.by_person and said.turn < self.turn]

    def answers(self) -> list[Said]:
        """Return the assistant's messages, newest first."""
        return [said for said in reversed(self.said) if not said.by_person]

    def items_by_id(self) -> dict[str, Item]:
        """Return every item that the conversation names, by id, as it was seen last."""
        here = (*self.sections.listing, self.sections.folder, self.sections.file, *self.sections.attachments)
        seen = [item for made in self.calls if made.result for item in items_in(made.result)]
        return {str(item["id"]): item for item in (*filter(None, here), *seen)}

    def changed(self, *, finished: bool = False) -> list[Item]:
        """Return the items that this turn changed, newest first, but no copies; with `finished` of earlier steps."""
        calls = [made for made in reversed(self.calls) if made.turn == self.turn and not made.reads]
        calls = [made for made in calls if made.name != "copy_item" and (made.segment < self.segment or not finished)]
        return [item for made in calls if made.result and made.result.worked for item in items_in(made.result)]

    def focus(self) -> list[Item]:
        """Return the subject of the conversation before the running step: one item, or several that were listed."""
        by_id, found, turn = self.items_by_id(), list[Item](), 0
        for made, result, answer in self._before():
            if found and made.turn < turn:
                break
            items = _subject(made, result, by_id)
            named = [item for item in items if f"`{item.get('path')}`" in answer]
            if named:
                # Of several files that were read, the answer is from the one that it names.
                return named
            if items and not found and made.name not in SEARCHES:
                found, turn = items, made.turn
        return found

    def listed(self) -> list[Item]:
        """Return the items that the last answer before the running step listed, in its order."""
        lists = (
            [one for one in items_in(result) if str(one.get("name")) in said] for _, result, said in self._before()
        )
        return next((items for items in lists if len(items) > 1), [])

    def last_folder(self) -> Item | None:
        """Return the folder that was talked about last before the running step."""
        by_id = self.items_by_id()
        for made, result, _ in self._before():
            own = [item for item in items_in(result)[:1] if item.get("kind") == "folder"]
            found = own if made.name in NAMING_FOLDERS else []
            if found := found or _arguments(made, by_id, "folder_id", "parent_id"):
                return found[0]
        return None

    def _before(self) -> Iterator[tuple[Call, Result, str]]:
        """Yield the calls that worked before the running step, newest first, with the answers of their turn."""
        for made in reversed(self.calls):
            if (made.turn, made.segment) < (self.turn, self.segment) and made.result and made.result.worked:
                answered = (said.text for said in self.said if said.turn == made.turn and not said.by_person)
                yield made, made.result, " ".join(answered)


def items_in(result: Result) -> list[Item]:
    """Return all items that a result names, in its order."""
    single = [result.data, result.data.get("file"), result.data.get("item")]
    return [*filter(is_item, single), *result.items, *result.files]


def _subject(made: Call, result: Result, by_id: Mapping[str, Item]) -> list[Item]:
    if made.name in NO_SUBJECT:
        return []
    if made.name in SEARCHES:
        return items_in(result)
    if made.name in {"list_folder", "get_folder_tree"}:
        return _arguments(made, by_id, "folder_id")
    return items_in(result)[:1] or _arguments(made, by_id, "item_id", "file_id")


def _arguments(made: Call, by_id: Mapping[str, Item], *names: str) -> list[Item]:
    return [by_id[str(made.args[name])] for name in names if str(made.args.get(name)) in by_id]


def read_conversation(messages: Sequence[BaseMessage]) -> Conversation:
    """Read the messages in order. Results are joined to their calls by id, wherever they stand."""
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    said, calls = list[Said](), list[Call]()
    run_id, turn, segment, rounds = "", 0, 0, 0
    for message in messages:
        if is_step(message):
            continue
        if isinstance(message, HumanMessage):
            run_id, turn, segment, rounds = str(message.id or ""), turn + 1, 0, 0
            said.append(Said(by_person=True, text=message.text, turn=turn))
        elif isinstance(message, AIMessage):
            if message.text.strip():
                said.append(Said(by_person=False, text=message.text, turn=turn))
            for call in message.tool_calls:
                answered = results.get(str(call["id"]))
                result, args = read_result(answered) if answered else None, cast("Mapping[str, Any]", call["args"])
                calls.append(Call(str(call["id"]), call["name"], args, result, turn, segment))
            segment, rounds = (segment, rounds + 1) if message.tool_calls else (segment + 1, 0)
    system = "\n\n".join(one.text for one in messages if isinstance(one, SystemMessage) or is_step(one))
    return Conversation(read_sections(system), tuple(said), tuple(calls), run_id, turn, segment, rounds)
