"""The person's long-term memory: keep a fact, forget one, say what there is."""

from collections.abc import Mapping, Sequence
from typing import Any

from graph.memory.facts import words_of
from graph.offline.replay import Script, call
from graph.offline.scripts.task import Task
from graph.offline.understanding.requests import Wish
from graph.offline.wording import inert, quoted

Memory = Mapping[str, Any]


def remember(task: Task, wish: Wish) -> Script:
    """Keep a fact in the person's own words."""
    task.checked((yield from call("remember", fact=wish.content)), "remember", wish.content)
    return task.say("remembered", fact=quoted(wish.content))


def recall(task: Task, _wish: Wish) -> Script:
    """Say what is remembered."""
    memories = task.checked((yield from call("list_memories")), "list_memories").entries("memories")
    return task.say("memories", list=_lines(memories)) if memories else task.say("no_memories")


def forget(task: Task, wish: Wish) -> Script:
    """Forget the fact that is meant."""
    found = task.checked((yield from call("list_memories")), "list_memories")
    meant = _meant(wish.content, found.entries("memories"))
    if len(meant) != 1:
        return (
            task.say("which_memory", list=_lines(meant))
            if meant
            else task.say("no_such_memory", fact=quoted(wish.content))
        )
    fact = str(meant[0]["fact"])
    task.checked((yield from call("forget", memory_id=meant[0]["id"])), "forget", fact)
    return task.say("forgotten", fact=quoted(fact))


def _meant(fact: str, memories: Sequence[Memory]) -> list[Memory]:
    """Return the facts that share most words with what was said; a fact said word for word is the one."""
    same = [memory for memory in memories if str(memory["fact"]).casefold() == fact.casefold()]
    wanted = words_of(fact)
    shared = [(len(words_of(str(memory["fact"])) & wanted), memory) for memory in memories]
    most = max((count for count, _ in shared), default=0)
    return same[:1] or [memory for count, memory in shared if count == most and most]


def _lines(memories: Sequence[Memory]) -> str:
    return "\n".join(f"- {inert(str(memory['fact']))}" for memory in memories)
