"""Answers and summaries, each with the file and the passage that they rest on."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final

from graph.offline.documents.sentences import Sentence, first_heading, read_sentences
from graph.offline.documents.summary import SURE_ENOUGH, Passage, best_passage, key_sentences
from graph.offline.reading.conversation import Item
from graph.offline.reading.results import Result
from graph.offline.replay import Request, Script, UnresolvedError, call
from graph.offline.scripts.outcome import failed
from graph.offline.scripts.resolve import TOPIC_LIMIT, relevant_hits, resolve_one
from graph.offline.speech.wording import inert, joined, named, path_of, quoted, span, verbatim
from graph.offline.task import Task
from graph.offline.understanding.intents import Intent
from graph.offline.understanding.references import CURRENT_FILE, Ref

LONGEST_PASSAGE: Final = 500
AROUND: Final = 600
MOST_OTHERS: Final = 3


@dataclass(frozen=True, slots=True)
class Source:
    """A text that was read: which file, which part of it, and where the part begins."""

    file: Item
    text: str
    first_line: int
    total: int
    cut: bool

    def lines(self, sentences: Sequence[Sentence]) -> tuple[int, int]:
        """Return the lines of the file that sentences of this text stand on."""
        offset = self.first_line - 1
        return offset + min(one.line for one in sentences), offset + max(one.last_line for one in sentences)

    def words(self, sentences: Sequence[Sentence]) -> str:
        """Return sentences that follow each other, word for word: what is quoted is looked for in the file."""
        return verbatim(self.text[sentences[0].start : sentences[-1].end], LONGEST_PASSAGE)


Reading = Generator[Sequence[Request], Sequence[Result], Source]


def summarise(task: Task, intent: Intent) -> Script:
    """Sum up a document in its own sentences: the one named, else the one that is about the topic."""
    ref = intent.target or CURRENT_FILE
    item, others, topic = yield from _document(task, ref)
    source = yield from _read(task, item, None, None)
    sentences = read_sentences(source.text)
    chosen = key_sentences(sentences, topic)
    if not chosen:
        return task.say("summary_unreadable", name=named(source.file, task.language))
    return _told_summary(task, source, chosen, topic, others)


def _document(task: Task, ref: Ref) -> Generator[Sequence[Request], Sequence[Result], tuple[Item, list[Item], str]]:
    """Return the document that is meant, others that are about the same, and the topic if it was one."""
    if ref.form == "about":
        found = yield from _by_topic(task, ref.text)
        return found[0], found[1:], ref.text
    try:
        return (yield from resolve_one(task, ref, kind="file")), [], ""
    except UnresolvedError:
        if ref.form != "name" or "semantic_search_files" not in task.tools:
            raise
    found = yield from _by_topic(task, ref.text)
    return found[0], found[1:], ref.text


def _by_topic(task: Task, topic: str) -> Generator[Sequence[Request], Sequence[Result], list[Item]]:
    hits = yield from _hits(task, topic)
    files = {str(hit["file"]["id"]): hit["file"] for hit in hits}
    if not files:
        raise task.unresolved("nothing_about", topic=quoted(topic))
    return list(files.values())


def _hits(task: Task, query: str) -> Generator[Sequence[Request], Sequence[Result], list[Item]]:
    for tool in ("semantic_search_files", "search_files"):
        if tool in task.tools:
            result = yield from call(tool, query=query[:500], limit=TOPIC_LIMIT)
            hits = [hit for hit in relevant_hits(result, query) if hit["file"].get("kind") == "file"]
            if hits:
                return hits
    return []


def _read(task: Task, item: Item, start: int | None, end: int | None) -> Reading:
    opened = task.sections.file
    if opened and opened["id"] == item["id"] and task.sections.document_is_exact and start is None:
        text = task.sections.document or ""
        return Source({"kind": "file", **opened}, text, 1, len(text), cut=False)
    result = yield from call("read_file", file_id=item["id"], start=start, end=end)
    if not result.worked:
        raise UnresolvedError(failed(task, result, named(item, task.language)))
    file = result.data.get("file")
    text = result.word("text")
    total = result.number("total_characters") or len(text)
    whole = result.data.get("truncated") is not True and not result.cut
    return Source(
        file if isinstance(file, dict) else item, text, result.number("first_line") or 1, total, cut=not whole
    )


def _told_summary(task: Task, source: Source, chosen: Sequence[Sentence], topic: str, others: Sequence[Item]) -> str:
    name = str(source.file.get("name", ""))
    heading = first_heading(source.text)
    title = task.say("summary_title", topic=inert(topic or heading or name))
    points = [f"- {inert(sentence.text)}" for sentence in chosen]
    lines = span(*source.lines(chosen), task.language)
    told = [title, "", *points, "", _source_line(task, source, chosen, lines)]
    if source.cut:
        told.append(task.say("summary_partial", shown=len(source.text), total=source.total))
    if others:
        told.append(task.say("also_about", list=_names(task, others)))
    return "\n".join(told)


def _source_line(task: Task, source: Source, chosen: Sequence[Sentence], lines: str) -> str:
    file, language = source.file, task.language
    passage = f"“{source.words(chosen[:1])}”"
    return task.say("summary_source", name=named(file, language), path=path_of(file), lines=lines, passage=passage)


def _names(task: Task, items: Sequence[Item]) -> str:
    return joined((path_of(item) for item in items[:MOST_OTHERS]), task.language)


def ask(task: Task, intent: Intent) -> Script:
    """Answer a question with the passage that fits it best."""
    question = intent.query or intent.said
    own = yield from _own_document(task, intent)
    if own:
        passage = best_passage(read_sentences(own.text), question)
        if passage and (passage.fit >= SURE_ENOUGH or intent.target):
            return _told_answer(task, own, passage, [])
        if intent.target and intent.target.form == "current file":
            return task.say("answer_none_here")
    return (yield from _from_drive(task, question))


def _own_document(task: Task, intent: Intent) -> Generator[Sequence[Request], Sequence[Result], Source | None]:
    """Return the document that the question names, or the open one; None if there is none, as of "my documents"."""
    ref = intent.target or (CURRENT_FILE if task.sections.document and task.sections.file else None)
    if ref is None or ref.kind == "folder":
        return None
    try:
        item = yield from resolve_one(task, ref, kind="file")
    except UnresolvedError:
        if ref.form == "current file":
            raise
        return None
    return (yield from _read(task, item, None, None))


def _from_drive(task: Task, question: str) -> Script:
    hits = yield from _hits(task, question)
    if not hits:
        return task.say("answer_none", query=quoted(question))
    best = max(hits, key=lambda hit: _fit(hit, question))
    start = max(0, int(best.get("start") or 0) - AROUND // 3)
    end = int(best.get("end") or 0) + AROUND
    whole = not best.get("end")
    source = yield from _read(task, best["file"], None if whole else start, None if whole else end)
    passage = best_passage(read_sentences(source.text), question)
    if passage is None:
        return task.say("answer_none", query=quoted(question))
    others = [hit["file"] for hit in hits if hit["file"]["id"] != best["file"]["id"]]
    return _told_answer(task, source, passage, list({str(item["id"]): item for item in others}.values()))


def _fit(hit: Item, question: str) -> float:
    heading = str(hit.get("heading") or "")
    text = f"# {heading}\n{hit.get('text', '')}" if heading else str(hit.get("text", ""))
    passage = best_passage(read_sentences(text), question)
    return passage.fit if passage else 0.0


def _told_answer(task: Task, source: Source, passage: Passage, others: Sequence[Item]) -> str:
    lines = span(*source.lines(passage.sentences), task.language)
    told = task.say(
        "answer" if passage.fit >= SURE_ENOUGH else "answer_unsure",
        name=named(source.file, task.language),
        path=path_of(source.file),
        lines=lines,
        passage=source.words(passage.sentences),
    )
    tail = [task.say("answer_also", list=_names(task, others))] if others else []
    return "\n\n".join([told, *tail])
