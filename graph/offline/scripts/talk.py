"""Talk about the assistant itself, and what is beyond it."""

from graph.offline.replay import Script
from graph.offline.speech.wording import PHRASES
from graph.offline.task import Task
from graph.offline.understanding.intents import Intent


def talk(task: Task, intent: Intent) -> Script:
    """Answer without any call."""
    yield from ()
    key = f"beyond_{intent.topic}" if intent.kind == "beyond" and intent.topic else intent.kind
    return task.say(key if key in PHRASES[task.language] else "unclear")


def which_choice(task: Task, _intent: Intent) -> Script:
    """Answer a choice where nothing was offered."""
    yield from ()
    return task.say("which_choice")
