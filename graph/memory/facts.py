"""Long-term memory: a person's facts in the store, with their sources; the namespace is the run's user."""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, NotRequired, cast
from uuid import NAMESPACE_OID, uuid4, uuid5

from langgraph.store.base import BaseStore, Item
from typing_extensions import TypedDict

from graph.drive.connections import Toolbox
from graph.drive.tool_names import FILE_INFO
from graph.errors import DriveUnavailableError
from graph.messages.tokens import tokens_of
from graph.prompts import json_section

ROOT: Final = "memories"
FACT_CHARACTERS: Final = 500
MAX_FACTS: Final = 500
"""Limit for one person."""
FACT_TOKENS: Final = 800
_WORD: Final = re.compile(r"[^\W_\u3400-\u9fff]{2,}|[\u3400-\u9fff]+")
_COMMON: Final = frozenset({"the", "my", "is", "are", "of", "to", "in", "and", "for", "it", "me", "that", "with", "on"})
FileState = Literal["there", "trashed", "gone", "unknown"]
Restored = Literal["new", "there", "no_room"]
"""The outcome for a fact of an export: a person has at most `MAX_FACTS`."""
GONE: Final = "not_found"
VISIBLE: Final = frozenset({"there", "trashed"})


class FactSource(TypedDict):
    """The source of a fact: the person's message, or a version of a file. Unknown keys are absent."""

    kind: Literal["said", "file"]
    thread_id: NotRequired[str]
    message_id: NotRequired[str]
    file_id: NotRequired[str]
    name: NotRequired[str]
    version: NotRequired[int]


class Fact(TypedDict):
    """One fact. Times are ISO 8601 in UTC."""

    id: str
    text: str
    source: FactSource
    created_at: str
    updated_at: str


class TooManyFactsError(Exception):
    """The person has as many facts as can be kept."""


class Facts:
    """The facts of one person."""

    def __init__(self, store: BaseStore, user_id: str) -> None:
        self._store = store
        self._namespace = (ROOT, user_id.replace(".", "_") or "_")

    async def all(self) -> list[Fact]:
        """Return all facts, the newest first."""
        items = await self._store.asearch(self._namespace, limit=MAX_FACTS)
        return sorted(map(_fact, items), key=lambda fact: (fact["updated_at"], fact["id"]), reverse=True)

    async def get(self, fact_id: str) -> Fact | None:
        """Return a fact, None if the person has none with this id."""
        item = await self._store.aget(self._namespace, fact_id)
        return _fact(item) if item else None

    async def keep(self, text: str, source: FactSource, now: datetime, key: str = "") -> Fact:
        """Store a fact; the same text twice stays one. `key` tells edited ones apart. Raises `TooManyFactsError`."""
        stored = await self.all()
        text = one_line(text)
        same = next((fact for fact in stored if fact["text"].casefold() == text.casefold()), None)
        if same is None and len(stored) >= MAX_FACTS:
            raise TooManyFactsError
        made = str(uuid5(NAMESPACE_OID, text.casefold()))
        if same is None and any(fact["id"] == made for fact in stored):
            made = str(uuid5(NAMESPACE_OID, key)) if key else str(uuid4())
        at = now.isoformat()
        fact: Fact = {
            "id": same["id"] if same else made,
            "text": text,
            "source": source,
            "created_at": same["created_at"] if same else at,
            "updated_at": at,
        }
        await self._put(fact)
        return fact

    async def restore(self, facts: Sequence[Fact]) -> list[Restored]:
        """Store facts of an export, each unless its id or its text is there; return the outcome for each."""
        stored = await self.all()
        ids, texts = {one["id"] for one in stored}, {one["text"].casefold() for one in stored}
        outcomes: list[Restored] = []
        for fact in facts:
            text = one_line(fact["text"])
            if fact["id"] in ids or text.casefold() in texts:
                outcomes.append("there")
            elif len(ids) >= MAX_FACTS:
                outcomes.append("no_room")
            else:
                await self._put({**fact, "text": text})
                ids.add(fact["id"])
                texts.add(text.casefold())
                outcomes.append("new")
        return outcomes

    async def edit(self, fact_id: str, text: str, now: datetime) -> Fact | None:
        """Give a fact another text, which is the person's own; None if there is no such fact."""
        fact = await self.get(fact_id)
        if fact is None:
            return None
        edited: Fact = {**fact, "text": one_line(text), "updated_at": now.isoformat()}
        await self._put(edited)
        return edited

    async def forget(self, fact_id: str) -> bool:
        """Forget a fact for good; False if there is none with this id."""
        if await self.get(fact_id) is None:
            return False
        await self._store.adelete(self._namespace, fact_id)
        return True

    async def forget_all(self) -> None:
        """Forget all facts for good."""
        while items := await self._store.asearch(self._namespace, limit=MAX_FACTS):
            for item in items:
                await self._store.adelete(self._namespace, item.key)

    async def unlink(self, thread_id: str) -> None:
        """Take the thread out of where facts are from: they stay, as the person asked, the thread does not."""
        for fact in await self.all():
            if fact["source"].get("thread_id") == thread_id:
                source = {key: value for key, value in fact["source"].items() if key not in {"thread_id", "message_id"}}
                await self._put({**fact, "source": cast("FactSource", source)})

    async def _put(self, fact: Fact) -> None:
        await self._store.aput(self._namespace, fact["id"], cast("dict[str, Any]", fact), index=False)


def one_line(text: str) -> str:
    """Return the text as a fact has it: on one line, and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= FACT_CHARACTERS else f"{line[: FACT_CHARACTERS - 1]}…"


def files_of(facts: Sequence[Fact]) -> list[str]:
    """Return the ids of the files that facts are from, each once."""
    return list(dict.fromkeys(file_id for fact in facts if (file_id := fact["source"].get("file_id"))))


def _fact(item: Item) -> Fact:
    value: Mapping[str, Any] = item.value
    return cast("Fact", {**value, "id": item.key})


def facts_section(facts: Sequence[Fact], request: str, budget: int = FACT_TOKENS) -> str:
    """Return the facts that fit in `budget` tokens as a section for the system message; empty without any."""
    entries: list[dict[str, str]] = []
    for fact in by_relevance(facts, request):
        entry = {"id": fact["id"], "fact": fact["text"], "from": fact["source"].get("name", "the person")}
        budget -= tokens_of(str(entry))
        if budget < 0:
            break
        entries.append(entry)
    return json_section("memories", entries) if entries else ""


def by_relevance(facts: Sequence[Fact], request: str) -> list[Fact]:
    """Return the facts by how many words they share with the request; then the short, then the new ones."""
    wanted = words_of(request)
    newest = sorted(facts, key=lambda fact: fact["updated_at"], reverse=True)
    return sorted(newest, key=lambda fact: (-len(words_of(fact["text"]) & wanted), len(fact["text"]) // 80))


def words_of(text: str) -> set[str]:
    """Return the words of a text; of Chinese, its pairs of characters."""
    found: set[str] = set()
    for run in _WORD.findall(text.casefold()):
        if "\u3400" <= run[0] <= "\u9fff":
            found |= {run[index : index + 2] for index in range(max(1, len(run) - 1))}
        elif run not in _COMMON:
            found.add(run)
    return found


async def visible_facts(facts: Facts, toolbox: Toolbox, stored: Sequence[Fact] | None = None) -> list[Fact]:
    """Return the person's facts without those of trashed files; those of files that are gone are forgotten for good.

    A file that the person may not see any more is gone for them. If the drive does not answer, nothing is forgotten,
    and facts from files are left out. `stored` are the facts, if they were read a moment ago.
    """
    stored = await facts.all() if stored is None else stored
    files = files_of(stored)
    if not files:
        return list(stored)
    states = dict(zip(files, await asyncio.gather(*(file_state(toolbox, file) for file in files)), strict=True))
    shown: list[Fact] = []
    for fact in stored:
        status = states.get(fact["source"].get("file_id", ""), "there")
        if status == "there":
            shown.append(fact)
        elif status == "gone":
            await facts.forget(fact["id"])
    return shown


async def file_state(toolbox: Toolbox, file_id: str) -> FileState:
    """Return the state of a file, as the person sees it."""
    if FILE_INFO not in toolbox.tools:
        return "unknown"
    try:
        result = await toolbox.call(FILE_INFO, {"item_id": file_id}, meta={})
    except DriveUnavailableError:
        return "unknown"
    data = result.structuredContent or {}
    if not result.isError:
        return "trashed" if data.get("trashed_at") else "there"
    if data.get("code") != GONE:
        return "unknown"
    return "gone"


async def hidden_items(toolbox: Toolbox, ids: Collection[str]) -> frozenset[str]:
    """Return the items that the person can't see now; items without an answer of the drive count as hidden."""
    wanted = sorted(ids)
    states = await asyncio.gather(*(file_state(toolbox, key) for key in wanted))
    return frozenset(key for key, state in zip(wanted, states, strict=True) if state not in VISIBLE)
