"""Long-term memory: facts that a person asked to be remembered, in the store, with where they came from.

Each person has their own; nobody gets at another's, since the namespace is made of the run's own user.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, NotRequired, cast
from uuid import NAMESPACE_OID, uuid4, uuid5

from langgraph.store.base import BaseStore, Item
from typing_extensions import TypedDict

ROOT: Final = "memories"
FACT_CHARACTERS: Final = 500
MOST_FACTS: Final = 500
"""Of one person."""


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
        items = await self._store.asearch(self._namespace, limit=MOST_FACTS)
        return sorted(map(_fact, items), key=lambda fact: (fact["updated_at"], fact["id"]), reverse=True)

    async def get(self, fact_id: str) -> Fact | None:
        """Return a fact, None if the person has none with this id."""
        item = await self._store.aget(self._namespace, fact_id)
        return _fact(item) if item else None

    async def keep(self, text: str, source: FactSource, now: datetime, key: str = "") -> Fact:
        """Keep a fact; the same text twice, even at once, stays one. Raises `TooManyFactsError`.

        `key` tells facts apart whose first text was the same, should one of them have been edited since.
        """
        known = await self.all()
        text = one_line(text)
        same = next((fact for fact in known if fact["text"].casefold() == text.casefold()), None)
        if same is None and len(known) >= MOST_FACTS:
            raise TooManyFactsError
        made = str(uuid5(NAMESPACE_OID, text.casefold()))
        if same is None and any(fact["id"] == made for fact in known):
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
