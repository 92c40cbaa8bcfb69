"""Texts of files as they are, and summed up in their own sentences."""

import re
from collections.abc import Generator, Sequence
from typing import Final

from graph.offline.documents.sentences import Sentence, first_heading, read_sentences
from graph.offline.documents.summary import key_sentences
from graph.offline.reading.conversation import Conversation, Said
from graph.offline.reading.results import Item, Result
from graph.offline.replay import Request, Script, UnresolvedError, call
from graph.offline.scripts import listing
from graph.offline.scripts.answering import HITS, Source, read
from graph.offline.scripts.finding import relevant, topic_of
from graph.offline.scripts.resolve import fold, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.references import Ref
from graph.offline.understanding.requests import Wish
from graph.offline.wording import inert, joined, path_of, quoted, sides, span
from graph.state import Language

LONGEST_TEXT: Final = 3_000
LONGEST_TOPIC: Final = 60
MOST_OTHERS: Final = 3
WORDS: Final[dict[Language, tuple[str, ...]]] = {"en": ("summary", "总结", "摘要"), "zh": ("总结", "摘要", "summary")}
_TITLES: Final = tuple(
    re.compile(re.escape(side).replace(re.escape("{topic}"), "(?P<topic>.+?)")) for side in sides("summary_title")
)
_UNSAFE: Final = re.compile(r"[/\\\x00-\x1f“”\"]+")
Documents = Generator[Sequence[Request], Sequence[Result], tuple[list[Item], str]]


def open_file(task: Task, wish: Wish) -> Script:
    """Show the text of a file; a folder is listed."""
    item = yield from resolve_one(task, wish.target, loose=True)
    if item.get("kind") == "folder":
        return (yield from listing.folder(task, Wish("list", target=Ref("path", text=str(item.get("path") or "/")))))
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


def summarise(task: Task, wish: Wish) -> Script:
    """Sum up a document in its own sentences: the one named, else the one that is about the topic."""
    documents, topic = yield from _documents(task, wish.target or Ref("open"))
    if documents[0].get("kind") == "folder":
        return (
            yield from listing.folder(task, Wish("list", target=Ref("path", text=str(documents[0].get("path") or "/"))))
        )
    source = yield from read(task, documents[0])
    chosen = key_sentences(read_sentences(source.text), topic)
    if not chosen:
        return task.say("summary_unreadable", name=task.name(source.file))
    return _told(task, source, chosen, topic, documents[1:])


def _documents(task: Task, ref: Ref) -> Documents:
    """Return the document that is meant and others that are about the same, and the topic if it was one."""
    topic = topic_of(ref.text) if ref.form == "name" else ""
    if not topic:
        try:
            return [(yield from resolve_one(task, ref, loose=True))], ""
        except UnresolvedError as unresolved:
            if ref.form != "name" or "\n1. " in unresolved.text or "semantic_search_files" not in task.tools:
                raise
    topic = topic or ref.text
    result = yield from call("semantic_search_files", query=topic[:500], limit=5)
    files = {str(hit["file"]["id"]): hit["file"] for hit in relevant(result, topic)}
    if not files:
        raise task.unresolved("found_nothing", query=quoted(topic))
    return list(files.values()), topic


def _told(task: Task, source: Source, chosen: Sequence[Sentence], topic: str, others: Sequence[Item]) -> str:
    title = task.say(
        "summary_title", topic=inert(topic or first_heading(source.text) or str(source.file.get("name", "")))
    )
    where = span(*source.lines(chosen), task.language)
    passage = f"“{source.words(chosen[0])}”"
    name = task.name(source.file)
    told = [title, "", *(f"- {inert(sentence.text)}" for sentence in chosen), ""]
    told.append(task.say("summary_source", name=name, path=path_of(source.file), lines=where, passage=passage))
    if source.cut:
        told.append(task.say("summary_partial", shown=len(source.text), total=source.total))
    if others:
        told.append(task.say("also_about", list=joined(map(path_of, others[:MOST_OTHERS]), task.language)))
    return "\n".join(told)


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


def last_summary(conversation: Conversation, *, only_summaries: bool = False) -> Said | None:
    """Return the newest summary that the assistant gave; without any, its newest answer unless told otherwise."""
    answers = conversation.answers()
    told = [
        Said(by_person=False, text=str(step.get("result") or ""), turn=0)
        for step in reversed(conversation.sections.earlier_results)
    ]
    summaries = [said for said in (*answers, *told) if summed_up(said.text)]
    return next(iter([*summaries, *([] if only_summaries else answers)]), None)


def summed_up(text: str) -> str:
    """Return what a text of the assistant sums up, empty if it is no summary."""
    found = (title.match(text.strip()) for title in _TITLES)
    return next((match["topic"] for match in found if match), "")


def summary_name(said: Said, language: Language) -> str:
    """Return a file name for a summary: its topic, and the word."""
    topic = re.sub(r"\.\w{1,5}$", "", _UNSAFE.sub(" ", summed_up(said.text)).strip())[:LONGEST_TOPIC].strip()
    word = WORDS[language][0]
    if not topic:
        return f"{word}.md"
    return f"{topic} {word}.md" if language == "en" else f"{topic}{word}.md"
