"""Texts of a thread that are too long for its state: kept in the store under a reference, and deleted with the thread.

The state is written anew at every step; a text on the shelf is written once. Only the thread that put it there can get
at it: the namespace is made of the run's own user and thread, never of what a model says.
"""

from base64 import b85decode, b85encode
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final
from zlib import compress, decompress

from langgraph.store.base import BaseStore, GetOp, Item, Op

ROOT: Final = "threads"
PROMPTS: Final = ("prompts",)
"""Where the prompts are that threads have seen: of all threads together, and nobody's own words."""
MOST_REMEMBERED: Final = 20_000_000
"""Characters of all threads that are kept in memory as well."""
PAGE: Final = 100
PACKED: Final = "zlib"
LONG: Final = 1_000
"""Characters from which on a text is packed."""
LEVEL: Final = 6


class ShelfMemory:
    """What was put and read last, by namespace and reference: a turn needs the same results in every round."""

    def __init__(self) -> None:
        self._texts: OrderedDict[tuple[tuple[str, ...], str], str] = OrderedDict()
        self._size = 0

    def get(self, namespace: tuple[str, ...], key: str) -> str | None:
        """Return a text that is remembered."""
        text = self._texts.get((namespace, key))
        if text is not None:
            self._texts.move_to_end((namespace, key))
        return text

    def put(self, namespace: tuple[str, ...], key: str, text: str) -> None:
        """Remember a text; the ones that were not needed for longest are forgotten."""
        self._size += len(text) - len(self._texts.pop((namespace, key), ""))
        self._texts[namespace, key] = text
        while self._size > MOST_REMEMBERED and len(self._texts) > 1:
            self._size -= len(self._texts.popitem(last=False)[1])

    def forget(self, namespace: tuple[str, ...]) -> None:
        """Forget all texts of a namespace."""
        for key in [key for key in self._texts if key[0] == namespace]:
            self._size -= len(self._texts.pop(key))


class Shelf:
    """The texts of one thread."""

    def __init__(self, store: BaseStore, memory: ShelfMemory, user_id: str, thread_id: str) -> None:
        self._store = store
        self._memory = memory
        self._namespace = namespace_of(user_id, thread_id)

    async def put(self, key: str, text: str) -> None:
        """Keep a text under a reference. The same text under the same one is written once."""
        await self._put(self._namespace, key, text)

    async def put_once(self, text: str) -> str:
        """Keep a text under its own digest, and return that."""
        key = _digest(text)
        await self._put(self._namespace, key, text)
        return key

    async def put_prompt(self, text: str) -> str:
        """Keep a prompt under its own digest, once for all threads, and return that. It stays when they go."""
        key = _digest(text)
        await self._put(PROMPTS, key, text)
        return key

    async def get(self, key: str) -> str | None:
        """Return the text; None if this thread has none under the reference."""
        return (await self.texts([key])).get(key)

    async def texts(self, keys: Iterable[str]) -> Mapping[str, str]:
        """Return the texts under the references, without those that are not there."""
        return await self._texts(self._namespace, keys)

    async def prompts(self, keys: Iterable[str]) -> Mapping[str, str]:
        """Return the prompts under the references, without those that are not there."""
        return await self._texts(PROMPTS, keys)

    async def _put(self, namespace: tuple[str, ...], key: str, text: str) -> None:
        if self._memory.get(namespace, key) == text:
            return
        await self._store.aput(namespace, key, _packed(text), index=False)
        self._memory.put(namespace, key, text)

    async def _texts(self, namespace: tuple[str, ...], keys: Iterable[str]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        missing: list[str] = []
        for key in dict.fromkeys(keys):
            text = self._memory.get(namespace, key)
            if text is None:
                missing.append(key)
            else:
                found[key] = text
        if not missing:
            return found
        wanted: list[Op] = [GetOp(namespace, key) for key in missing]
        for item in await self._store.abatch(wanted):
            if isinstance(item, Item):
                found[item.key] = _text_in(item.value)
                self._memory.put(namespace, item.key, found[item.key])
        return found


def _packed(text: str) -> dict[str, str]:
    """Return a text as it is stored: a long one in two thirds of its room, or less."""
    if len(text) < LONG:
        return {"text": text}
    return {PACKED: b85encode(compress(text.encode("utf-8", "surrogatepass"), LEVEL)).decode()}


def _text_in(value: Mapping[str, Any]) -> str:
    if PACKED in value:
        return decompress(b85decode(value[PACKED])).decode("utf-8", "surrogatepass")
    return str(value["text"])


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def namespace_of(user_id: str, thread_id: str) -> tuple[str, ...]:
    """Return where a thread's texts are. Dots would be read as another level."""
    return (ROOT, *(part.replace(".", "_") or "_" for part in (user_id, thread_id)))


async def clear_shelf(store: BaseStore, memory: ShelfMemory, user_id: str, thread_id: str) -> int:
    """Delete all texts of a thread; return how many there were."""
    namespace = namespace_of(user_id, thread_id)
    memory.forget(namespace)
    gone = 0
    while items := await store.asearch(namespace, limit=PAGE):
        for item in items:
            await store.adelete(namespace, item.key)
        gone += len(items)
    return gone
