"""The person's long-term memory: keep a fact, forget one, say what there is."""

from collections.abc import Mapping, Sequence
from typing import Any

from graph.memory.relevance import words_of
from graph.offline.replay import Script, call
from graph.offline.scripts.outcome import failed
from graph.offline.speech.wording import inert, quoted
from graph.offline.task import Task
from graph.offline.understanding.personal import Personal

Memory = Mapping[str, Any]


def remembering(task: Task, wanted: Personal) -> Script:
    """Do what the message wants."""
    if wanted.wish == "remember":
        return (yield from _remember(task, wanted.fact))
    found = yield from call("list_memories")
    memories = found.entries("memories")
    if not found.worked:
        return failed(task, found, task.say("do_list_memories"))
    if wanted.wish == "list":
        return task.say("memories", list=_lines(memories)) if memories else task.say("no_memories")
    return (yield from _forget(task, wanted.fact, memories))


def _remember(task: Task, fact: str) -> Script:
    kept = yield from call("remember", fact=fact)
    if not kept.worked:
        return failed(task, kept, task.say("do_remember", fact=quoted(fact)))
    return task.say("remembered", fact=quoted(fact))


def _forget(task: Task, fact: str, memories: Sequence[Memory]) -> Script:
    meant = _meant(fact, memories)
    if not meant:
        return task.say("no_such_memory", fact=quoted(fact))
    if len(meant) > 1:
        return task.say("which_memory", list=_lines(meant))
    gone = yield from call("forget", memory_id=meant[0]["id"])
    said = quoted(str(meant[0]["fact"]))
    return task.say("forgotten", fact=said) if gone.worked else failed(task, gone, task.say("do_forget", fact=said))


def _meant(fact: str, memories: Sequence[Memory]) -> list[Memory]:
    """Return the facts that share most words with what was said; a fact said word for word is the one."""
    same = [memory for memory in memories if str(memory["fact"]).casefold() == fact.casefold()]
    if same:
        return same[:1]
    wanted = words_of(fact)
    shared = [(len(words_of(str(memory["fact"])) & wanted), memory) for memory in memories]
    most = max((count for count, _ in shared), default=0)
    return [memory for count, memory in shared if count == most and most]


def _lines(memories: Sequence[Memory]) -> str:
    return "\n".join(f"- {inert(str(memory['fact']))}" for memory in memories)
