"""A specialist's next words: the calls it wants made, or its answer."""

from collections.abc import Generator, Sequence

from graph.offline.followup import follow_up
from graph.offline.reading.conversation import Conversation
from graph.offline.reading.mentions import items_in
from graph.offline.reading.results import Result
from graph.offline.replay import (
    LeftOutError,
    MissingToolError,
    OutOfRoundsError,
    Reply,
    Request,
    Script,
    UnresolvedError,
    replay,
)
from graph.offline.routing import language_of
from graph.offline.scripts import SCRIPTS
from graph.offline.scripts.remembering import remembering
from graph.offline.speech.wording import path_of
from graph.offline.task import Task
from graph.offline.understanding.intents import Intent, agent_for
from graph.offline.understanding.personal import personal
from graph.offline.understanding.requests import understand


def answer(conversation: Conversation, tools: frozenset[str]) -> Reply:
    """Return what the specialist with these tools says next."""
    task = Task(conversation, language_of(conversation), tools)
    wanted = personal(conversation.asked)
    if wanted and "remember" in tools:
        return replay(remembering(task, wanted), conversation, tools)
    intents = follow_up(conversation, requests_of(conversation))
    if not intents:
        return Reply(text=task.say("unclear"))
    return replay(_all(task, intents), conversation, tools)


def requests_of(conversation: Conversation) -> Sequence[Intent]:
    """Return what is to be done: the step's instruction, else the person's message."""
    file_open = conversation.sections.file is not None
    return understand(conversation.request, file_open=file_open) or understand(conversation.asked, file_open=file_open)


def _all(task: Task, intents: Sequence[Intent]) -> Script:
    told: list[str] = []
    for intent in intents:
        try:
            told.append((yield from _one(task, intent)))
        except OutOfRoundsError:
            told.append(task.say("out_of_rounds", done=_done(task)))
            break
    text = "\n\n".join(dict.fromkeys(text for text in told if text)) or task.say("unclear")
    return f"{text}\n" if task.is_underway else text


def _one(task: Task, intent: Intent) -> Generator[Sequence[Request], Sequence[Result], str]:
    try:
        return (yield from SCRIPTS[intent.kind](task, intent))
    except UnresolvedError as unresolved:
        return unresolved.text
    except LeftOutError:
        return task.say("left_out")
    except MissingToolError as missing:
        return task.say("no_tool", tool=f"`{missing.tool}`", who=task.say(f"who_{agent_for(intent)}"))


def _done(task: Task) -> str:
    changed = [
        made.result for made in task.conversation.running if made.result and made.result.worked and not made.reads
    ]
    lines = [f"- {path_of(item)}" for result in changed for item in items_in(result)[:1]]
    return task.say("done_so_far", list="\n".join(lines)) if lines else task.say("nothing_done")
