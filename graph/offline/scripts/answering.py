"""Answers, each with the file and the words that they rest on: questions and comparisons."""

import re
from collections.abc import Generator, Sequence
from typing import NamedTuple

from graph.offline.documents import Sentence, asks_figure, best_passage, first_heading, key_sentences, read_sentences
from graph.offline.reading.results import Item, Result
from graph.offline.replay import Request, Script, UnresolvedError, call, request
from graph.offline.scripts.resolve import Items, dated, resolve, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in, word
from graph.offline.understanding.intent import Intent
from graph.offline.understanding.references import Ref, read_ref
from graph.offline.understanding.terms import terms
from graph.offline.wording import path_of, quoted, span, verbatim

HITS, LONGEST_PASSAGE, MOST_DIFFERENCES, WORTH_SHOWING = 8, 500, 5, 0.3


class Source(NamedTuple):
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

    def words(self, sentence: Sentence, limit: int = LONGEST_PASSAGE) -> str:
        """Return a sentence word for word: what is quoted is looked for in the file."""
        return verbatim(self.text[sentence.start : sentence.end], limit)

    @property
    def path(self) -> str:
        """Return the path of the file, or its name."""
        return str(self.file.get("path") or self.file.get("name", ""))

    @property
    def called(self) -> str:
        """Return the path and the title of the file."""
        return f"{self.path.rpartition('.')[0]} {first_heading(self.text)}"


Reading = Generator[Sequence[Request], Sequence[Result], Source]


def read(task: Task, item: Item) -> Reading:
    """Return the text of a file. Raises `UnresolvedError` if it can't be read."""
    opened = task.sections.file
    if opened and opened["id"] == item["id"] and task.sections.document_is_exact:
        text = task.sections.document or ""
        return Source({"kind": "file", **opened}, text, 1, len(text), cut=False)
    return _source(task, (yield from call("read_file", file_id=item["id"])), item)


def _source(task: Task, result: Result, item: Item) -> Source:
    task.checked(result, "read_file", str(item.get("name", "")))
    file, text = result.data.get("file"), result.word("text")
    cut, total = result.data.get("truncated") is True or result.cut, result.number("total_characters") or len(text)
    return Source(file if isinstance(file, dict) else item, text, result.number("first_line") or 1, total, cut)


def ask(task: Task, intent: Intent) -> Script:
    """Answer a question with the words of the file that fit it best: the one it names, the open one, or any."""
    question, opened = intent.query or intent.said, task.sections.file if task.sections.document else None
    phrase = named_in("in_file", question)
    ref = read_ref(phrase, file_open=opened is not None) if phrase else None
    own: Item | None = {"kind": "file", **opened} if opened and (ref is None or ref.form != "name") else None
    if own is None and ref and ref.kind != "folder" and ref.form in {"name", "path", "it"}:
        try:
            own = yield from resolve_one(task, ref, kind="file")
        except UnresolvedError:
            own = None
    answer = _answer(task, (yield from read(task, own)), question) if own else ""
    if answer or (own and opened and own["id"] == opened["id"]):
        return answer or task.say("answer_none_here")
    return (yield from _from_drive(task, question, own))


def _from_drive(task: Task, question: str, own: Item | None = None) -> Script:
    result = yield from call("semantic_search_files", query=question[:500], limit=HITS)
    graded = sorted(((_fit(hit, question), hit) for hit in result.hits), key=lambda one: one[0], reverse=True)
    files = [hit["file"] for _, hit in graded[:3]]
    results = (yield [request("read_file", file_id=file["id"]) for file in files]) if files else []
    sources = [_source(task, one, file) for one, file in zip(results, files, strict=True) if one.worked]
    answered = [(source, answer) for source in sources if (answer := _answer(task, source, question))]
    if answered:
        return _newest(answered)
    if own:
        return task.say("answer_none_in", name=task.name(own))
    nearest = sources[0] if sources and graded[0][0] >= WORTH_SHOWING else None
    passage = best_passage(read_sentences(nearest.text), question, nearest.called) if nearest else None
    if nearest is None or passage is None:
        return task.say("answer_none", query=quoted(question))
    return _quoting(task, nearest, passage.sentences, "answer_unsure")


def _newest(answered: Sequence[tuple[Source, str]]) -> str:
    """Return the first answer; of files in one folder with dates in their names, the newest may take others back."""
    folder = answered[0][0].path.rpartition("/")[0]
    series = [one for one in answered if one[0].path.rpartition("/")[0] == folder and dated(one[0].file)[0]]
    first = answered[0] in series
    return (max(series, key=lambda one: dated(one[0].file)[0]) if first else answered[0])[1]


def _fit(hit: Item, question: str) -> float:
    source = Source(hit["file"], f"# {hit.get('heading') or ''}\n{hit.get('text', '')}", 1, 0, cut=False)
    passage = best_passage(read_sentences(source.text), question, source.called)
    return passage.fit if passage else 0.0


def _answer(task: Task, source: Source, question: str) -> str:
    """Return the answer if the file has a clear one; sums and comparisons of figures are beyond it."""
    sentences = read_sentences(source.text)
    if word("reckoned").search(question.lower()):
        return ""
    if sentences and set(terms(question)) <= set(terms(source.called)) and not asks_figure(question):
        return _quoting(task, source, key_sentences(sentences), "answer")
    passage = best_passage(sentences, question, source.called)
    return _quoting(task, source, passage.sentences, "answer") if passage and passage.is_sure else ""


def _quoting(task: Task, source: Source, sentences: Sequence[Sentence], code: str) -> str:
    quotes = "\n\n".join(f"> {source.words(one)} [1]" for one in sentences)
    lines = span(*source.lines(sentences), task.language)
    return task.say(code, name=task.name(source.file), path=path_of(source.file), lines=lines, passage=quotes)


def compare(task: Task, intent: Intent) -> Script:
    """Say what each of two files says that the other does not, in their own words."""
    items = yield from _two(task, intent.query.strip(" ?？。."))
    results = yield [request("read_file", file_id=item["id"]) for item in items]
    one, other = (_source(task, result, item) for result, item in zip(results, items, strict=True))
    lines: list[str] = []
    for number, (source, against) in enumerate(((one, other), (other, one)), 1):
        same = {sentence.text for sentence in read_sentences(against.text)}
        own = [sentence for sentence in read_sentences(source.text) if sentence.text not in same][:MOST_DIFFERENCES]
        said = task.say("only_in", name=task.name(source.file))
        lines += [f"- “{source.words(sentence, 200)}” [{number}] ({said})" for sentence in own]
    lead = task.say("compared" if lines else "compared_same", one=task.name(one.file), other=task.name(other.file))
    return "\n".join([lead, *lines])


def _two(task: Task, text: str) -> Items:
    pair, found = word("pair").search(text), list[Item]()
    for name in [one for one in pair.groups() if one][:2] if pair else ():
        ref = read_ref(re.sub(r"^(?:对比|比较)(?:一?下)?", "", name))
        found.append((yield from resolve_one(task, ref, kind="file", loose=True)))
    if not pair:
        phrase = re.sub(r"\btwo\b|(?:两|2)(?:份|个|篇)", "", named_in("both", text)).strip()
        ref = (read_ref(phrase) if phrase else None) or Ref("them")
        found = yield from resolve(task, Ref("all", ref.text) if ref.form == "name" else ref, kind="file")
    if len(found) != 2:
        raise task.unresolved("compare_two")
    return found
