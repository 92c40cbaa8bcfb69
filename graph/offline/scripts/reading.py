"""Texts of files as they are, and summed up in their own sentences."""

import re
from collections.abc import Generator, Sequence
from typing import Final

from graph.offline.documents import Sentence, first_heading, key_sentences, read_sentences
from graph.offline.reading.conversation import Conversation
from graph.offline.reading.results import Item, Result
from graph.offline.replay import Request, Script, UnresolvedError, call
from graph.offline.scripts import listing
from graph.offline.scripts.answering import HITS, Source, read
from graph.offline.scripts.finding import relevant, topic_of
from graph.offline.scripts.resolve import fold, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.intent import Intent
from graph.offline.understanding.references import Ref
from graph.offline.wording import inert, path_of, quoted, sides, span
from graph.state import Language

LONGEST_TEXT, LONGEST_TOPIC, MOST_OTHERS = 3_000, 60, 3
WORDS: Final[dict[Language, tuple[str, ...]]] = {"en": ("summary", "总结", "摘要"), "zh": ("总结", "摘要", "summary")}
_TITLES: Final = tuple(
    re.compile(re.escape(side).replace(re.escape("{topic}"), "(?P<topic>.+?)")) for side in sides("summary_title")
)
_UNSAFE: Final = re.compile(r"[/\\\x00-\x1f“”\"]+")
Documents = Generator[Sequence[Request], Sequence[Result], tuple[list[Item], str]]


def open_file(task: Task, intent: Intent) -> Script:
    """Show the text of a file; a folder is listed."""
    item = yield from resolve_one(task, intent.target, loose=True)
    if item.get("kind") == "folder":
        return (yield from listing.folder_at(task, item))
    result = yield from call("read_file", file_id=item["id"])
    task.checked(result, "read_file", str(item.get("name", "")))
    text, file = result.word("text"), result.data.get("file") or item
    if not text.strip():
        return task.say("text_empty", name=task.name(item))
    shown, first = text[:LONGEST_TEXT], result.number("first_line") or 1
    total = result.number("total_lines") or text.count("\n") + 1
    last = min(total, first + shown.rstrip("\n").count("\n"))
    fence = "~" * max(3, max((len(line) - len(line.lstrip("~")) for line in shown.splitlines()), default=0) + 1)
    lead = task.say("text", name=task.name(file), path=path_of(file), first=first, last=last, total=total)
    tail = [task.say("text_more", total=total)] if len(text) > len(shown) or result.cut else []
    return "\n".join([lead, fence, shown.rstrip("\n"), fence, *tail])


def summarise(task: Task, intent: Intent) -> Script:
    """Sum up a document in its own sentences: the one named, else the one that is about the topic."""
    documents, topic = yield from _documents(task, intent.target or Ref("open"))
    if documents[0].get("kind") == "folder":
        return (yield from listing.folder_at(task, documents[0]))
    source = yield from read(task, documents[0])
    chosen = key_sentences(read_sentences(source.text), topic)
    if not chosen:
        return task.say("summary_unreadable", name=task.name(source.file))
    return _shown(task, source, chosen, topic, documents[1:])


def _documents(task: Task, ref: Ref) -> Documents:
    topic = topic_of(ref.text) if ref.form == "name" else ""
    if not topic:
        try:
            return [(yield from resolve_one(task, ref, loose=True))], ""
        except UnresolvedError as unresolved:
            if ref.form != "name" or "\n1. " in unresolved.text:
                raise
    topic = topic or ref.text
    result = yield from call("semantic_search_files", query=topic[:500], limit=5)
    files = {str(hit["file"]["id"]): hit["file"] for hit in relevant(result, topic)}
    if not files:
        raise task.unresolved("found_nothing", query=quoted(topic))
    return list(files.values()), topic


def _shown(task: Task, source: Source, chosen: Sequence[Sentence], topic: str, others: Sequence[Item]) -> str:
    about = inert(topic or first_heading(source.text) or str(source.file.get("name", "")))
    where, passage = span(*source.lines(chosen), task.language), f"“{source.words(chosen[0])}”"
    where_it_is = {"name": task.name(source.file), "path": path_of(source.file), "lines": where, "passage": passage}
    lines = [task.say("summary_title", topic=about), "", *(f"- {inert(sentence.text)}" for sentence in chosen), ""]
    lines.append(task.say("summary_source", **where_it_is))
    if source.cut:
        lines.append(task.say("summary_partial", shown=len(source.text), total=source.total))
    if others:
        lines.append(task.say("also_about", list=task.say("and").join(map(path_of, others[:MOST_OTHERS]))))
    return "\n".join(lines)


def find_summary(task: Task, *, finished: bool = False) -> Generator[Sequence[Request], Sequence[Result], Item | None]:
    """Return the file that is called a summary: one of this turn, else the one with just that name, else the newest."""
    fresh = [item for item in task.conversation.changed(finished=finished) if _is_summary(item)]
    if fresh:
        return fresh[0]
    for word in WORDS[task.language]:
        result = yield from call("search_files", query=word, limit=HITS)
        files = [hit["file"] for hit in result.hits if _is_summary(hit["file"])]
        same = [item for item in files if fold(str(item["name"])).rpartition(".")[0] in WORDS["en"]]
        if files:
            return max(same or files, key=lambda item: str(item.get("updated_at", "")))
    return None


def _is_summary(item: Item) -> bool:
    return item.get("kind") == "file" and any(word in fold(str(item.get("name", ""))) for word in WORDS["en"])


def last_summary(conversation: Conversation, *, only_summaries: bool = False) -> str | None:
    """Return the newest summary that the assistant gave; without any, its newest answer, or none."""
    answers = [said.text for said in conversation.answers()]
    results = [str(step.get("result") or "") for step in reversed(conversation.sections.earlier_results)]
    summaries = [text for text in (*answers, *results) if summed_up(text)]
    return next(iter([*summaries, *([] if only_summaries else answers)]), None)


def summed_up(text: str) -> str:
    """Return what a text of the assistant sums up, empty if it is no summary."""
    found = (title.match(text.strip()) for title in _TITLES)
    return next((match["topic"] for match in found if match), "")


def summary_name(summary: str, language: Language) -> str:
    """Return a file name for a summary: its topic, and the word."""
    topic = re.sub(r"\.\w{1,5}$", "", _UNSAFE.sub(" ", summed_up(summary)).strip())[:LONGEST_TOPIC].strip()
    blank = " " if topic and language == "en" else ""
    return f"{topic}{blank}{WORDS[language][0]}.md"
