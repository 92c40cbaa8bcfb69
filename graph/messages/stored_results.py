"""Long texts of a thread, in the store under a reference instead of the state, and deleted with the thread.

The state is written anew at every step; a stored text is written once. Only the thread that stored it can read it:
the namespace comes from the run's own user and thread, never from a model.
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
"""The namespace of prompts, shared by all threads: they are nobody's own words."""
WHOLE: Final = ":whole"
"""Follows the reference of a result that was too long even for a model to see at once."""
CACHE_CHARACTERS: Final = 20_000_000
"""The size of the cache over all threads, in characters."""
PAGE: Final = 100
PACKED: Final = "zlib"
LONG: Final = 1_000
"""Characters from which on a text is packed."""
LEVEL: Final = 6


class ResultCache:
    """A cache of recent texts by namespace and reference: a turn needs the same results in every round."""

    def __init__(self) -> None:
        self._texts: OrderedDict[tuple[tuple[str, ...], str], str] = OrderedDict()
        self._size = 0

    def get(self, namespace: tuple[str, ...], key: str) -> str | None:
        """Return a cached text."""
        text = self._texts.get((namespace, key))
        if text is not None:
            self._texts.move_to_end((namespace, key))
        return text

    def put(self, namespace: tuple[str, ...], key: str, text: str) -> None:
        """Cache a text, and evict the least recently used ones."""
        self._size += len(text) - len(self._texts.pop((namespace, key), ""))
        self._texts[namespace, key] = text
        while self._size > CACHE_CHARACTERS and len(self._texts) > 1:
            self._size -= len(self._texts.popitem(last=False)[1])

    def forget(self, namespace: tuple[str, ...]) -> None:
        """Evict all texts of a namespace."""
        for key in [key for key in self._texts if key[0] == namespace]:
            self._size -= len(self._texts.pop(key))


class ResultStore:
    """The texts of one thread."""

    def __init__(self, store: BaseStore, memory: ResultCache, user_id: str, thread_id: str) -> None:
        self._store = store
        self._memory = memory
        self._namespace = namespace_of(user_id, thread_id)

    async def put(self, key: str, text: str) -> None:
        """Store a text under a reference. The same text is written once."""
        await self._put(self._namespace, key, text)

    async def put_once(self, text: str) -> str:
        """Store a text under its own digest, and return the digest."""
        key = _digest(text)
        await self._put(self._namespace, key, text)
        return key

    async def put_prompt(self, text: str) -> str:
        """Store a prompt under its own digest, once for all threads, and return the digest. It outlives the threads."""
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


def sent_key(run_id: str, tool_call_id: str) -> str:
    """Return the reference under which is stored that a call of a person's own server was sent, and then its answer."""
    return f"sent:{run_id}:{tool_call_id}"


def namespace_of(user_id: str, thread_id: str) -> tuple[str, ...]:
    """Return where a thread's texts are. Dots would be read as another level."""
    return (ROOT, *(part.replace(".", "_") or "_" for part in (user_id, thread_id)))


async def delete_results(store: BaseStore, memory: ResultCache, user_id: str, thread_id: str) -> int:
    """Delete all texts of a thread; return how many there were."""
    namespace = namespace_of(user_id, thread_id)
    memory.forget(namespace)
    gone = 0
    while items := await store.asearch(namespace, limit=PAGE):
        for item in items:
            await store.adelete(namespace, item.key)
        gone += len(items)
    return gone
