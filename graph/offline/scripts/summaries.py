"""The summary that people speak of: a file, or what the assistant said."""

import re
from collections.abc import Generator, Sequence
from typing import Final

from graph.offline.reading.conversation import Conversation, Item, Said
from graph.offline.reading.mentions import changed_items
from graph.offline.reading.results import Result
from graph.offline.replay import Request, call
from graph.offline.scripts.matching import fold
from graph.offline.speech.wording import PHRASES
from graph.offline.task import Task
from graph.state import Language

WORDS: Final[dict[Language, tuple[str, ...]]] = {"en": ("summary", "总结", "摘要"), "zh": ("总结", "摘要", "summary")}
LIMIT: Final = 20
LONGEST_TOPIC: Final = 60
_TITLES = tuple(
    re.compile(re.escape(PHRASES[language]["summary_title"]).replace(re.escape("{topic}"), "(?P<topic>.+?)"))
    for language in ("en", "zh")
)
_UNSAFE = re.compile(r"[/\\\x00-\x1f“”\"]+")


def find_summary(task: Task, *, finished: bool = False) -> Generator[Sequence[Request], Sequence[Result], Item | None]:
    """Return the file that is called a summary: one of this turn, else the one with just that name, else the newest.

    With `finished`, what the running step itself made does not count.
    """
    fresh = [item for item in changed_items(task.conversation, finished=finished) if _is_summary(item)]
    if fresh:
        return fresh[0]
    for word in WORDS[task.language]:
        result = yield from call("search_files", query=word, limit=LIMIT)
        files = [hit["file"] for hit in result.hits if _is_summary(hit["file"])]
        if files:
            return _choose(files)
    return None


def _is_summary(item: Item) -> bool:
    name = fold(str(item.get("name", "")))
    return item.get("kind") == "file" and any(word in name for word in WORDS["en"])


def _choose(files: Sequence[Item]) -> Item:
    same = [item for item in files if fold(str(item["name"])).rpartition(".")[0] in WORDS["en"]]
    return max(same or files, key=lambda item: str(item.get("updated_at", "")))


def last_summary(conversation: Conversation, *, only_summaries: bool = False) -> Said | None:
    """Return the newest summary that the assistant gave; without any, its newest answer unless told otherwise."""
    answers = conversation.answers()
    summaries = [said for said in answers if topic_of(said.text)]
    told = [
        Said(by_person=False, text=str(step["result"]), turn=conversation.turn)
        for step in reversed(conversation.sections.earlier_results)
        if topic_of(str(step.get("result") or ""))
    ]
    return next(iter([*summaries, *told, *([] if only_summaries else answers)]), None)


def topic_of(text: str) -> str:
    """Return what a text of the assistant sums up, empty if it is no summary."""
    found = (title.match(text.strip()) for title in _TITLES)
    return next((match["topic"] for match in found if match), "")


def summary_name(said: Said, language: Language) -> str:
    """Return a file name for a summary: its topic, and the word."""
    topic = _UNSAFE.sub(" ", topic_of(said.text)).strip()
    topic = re.sub(r"\.\w{1,5}$", "", topic)[:LONGEST_TOPIC].strip()
    word = WORDS[language][0]
    if not topic:
        return f"{word}.md"
    return f"{topic} {word}.md" if language == "en" else f"{topic}{word}.md"
