"""Texts of files: as they are, summed up in their own sentences, and quoted as answers."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from graph.offline.conversation import Item, Result
from graph.offline.documents import (
    MAX_SENTENCES,
    Passage,
    Sentence,
    best_passage,
    first_heading,
    key_sentences,
    kind_of,
    named_number,
    parts_of,
    read_sentences,
)
from graph.offline.replay import UnresolvedError, request
from graph.offline.scripts import listing
from graph.offline.scripts.resolve import dated, every_file, queries_of, resolve_one
from graph.offline.scripts.tables import compute
from graph.offline.scripts.task import ROOT, Task
from graph.offline.understanding.grammar import STOP_CHARACTERS, has_han, named_in, respelt, table, terms, word
from graph.offline.understanding.intent import Intent, Ref, read_ref
from graph.offline.understanding.meaning import likeness
from graph.offline.wording import inert, path_of, verbatim

MAX_OWN, MAX_JUDGED, MAX_READ = 4, 40, 3
NEAR, NEAR_HAN, FAR_AHEAD = 0.84, 0.888, 0.02
"""Cosines: from these on a sentence may be shown for a question, and by this much a label has to be the nearest."""
SHORT, SHORT_HAN = 40, 10
"""Characters of a question that may leave out its subject."""
HITS, MAX_PASSAGE, WORTH_SHOWING, MAX_TEXT = 8, 500, 0.3, 3_000


class Source(NamedTuple):
    """A text that was read: which file, which part of it, and where the part begins."""

    file: Item
    text: str
    first_line: int = 1
    total: int = 0

    @property
    def called(self) -> str:
        """Return the path and the title of the file."""
        path = str(self.file.get("path") or self.file.get("name", ""))
        return f"{path.rpartition('.')[0]} {first_heading(self.text)}"

    def words(self, sentence: Sentence) -> str:
        """Return a sentence word for word: quotations are checked against the file."""
        return verbatim(self.text[sentence.start : sentence.end], MAX_PASSAGE)

    def place(self, task: Task, sentences: Sequence[Sentence]) -> dict[str, str]:
        """Return the name and path of the file and the lines of sentences, as they are told."""
        first = self.first_line + min(self.text.count("\n", 0, one.start) for one in sentences)
        last = self.first_line + max(self.text.count("\n", 0, one.end) for one in sentences)
        lines = task.say("line" if first == last else "lines", first=first, last=last)
        return {"name": task.name(self.file), "path": path_of(self.file), "lines": lines}


def read(task: Task, item: Item) -> Source:
    """Return the text of a file. Raises `UnresolvedError` if it can't be read."""
    return _source(task.call("read_file", str(item.get("name", "")), file_id=item["id"]), item)


def _source(result: Result, item: Item) -> Source:
    file, text = result.data.get("file"), result.word("text")
    total = result.number("total_characters") or len(text)
    return Source(file if isinstance(file, dict) else item, text, result.number("first_line") or 1, total)


def ask(task: Task, intent: Intent) -> str:
    """Answer a question with the words of the file that fit it best: the one it names, the open one, or any."""
    question = intent.query or intent.said
    named = _named(task, question, intent.target)
    free = not named and not task.sections.attachments
    before = _before(task) if free and word("goes_on").search(question) else ""
    shown = " ".join(one.text for one in task.conversation.answers()[:1])
    focus = [item for item in task.conversation.focus() if f"`{item.get('path')}`" in shown] if free else []
    files = [named] if named else [item for item in task.given if item.get("kind") == "file"]
    if before or len(question) <= (SHORT if question.isascii() else SHORT_HAN):
        files = [*focus, *files]
    nearest = ""
    for asked in filter(None, (question, f"{before} {question}" if before else "")):
        for own in files[:MAX_OWN]:
            # Of a table that was talked about, the search below asks as well, beside others.
            if own not in focus and (computed := compute(task, asked, own)):
                return computed
            answer, near = _answer(task, read(task, own), asked)
            quotes = word("cited").findall(answer)
            if answer and not (asked is not question and all(one in shown and "," not in one for one in quotes)):
                return answer
            nearest = nearest or near
    if files and (before or files != focus):
        nearest = nearest or task.say("answer_none_in", name=", ".join(map(task.name, files)))
    if files and (not free or before):
        return nearest
    return compute(task, question, None) or _from_drive(task, question, nearest)


def _before(task: Task) -> str:
    """Return the person's previous message, with the words that its answer quoted."""
    said = [one for one in task.conversation.said if one.turn == task.conversation.turn - 1]
    quotes = (quote for one in said if not one.by_person for quote in word("cited").findall(one.text))
    return " ".join([*(one.text for one in said if one.by_person), *quotes])


def _named(task: Task, question: str, meant: Ref | None) -> Item | None:
    """Return the file that a question names, or that is meant as its subject; the newest of a folder if it says so."""
    phrase = named_in("file_named", question) or named_in("in_file", question)
    ref = read_ref(phrase, file_open=task.sections.shows_file) if phrase else meant
    if ref is None and task.here is not ROOT and word("newest_one").search(question) and not task.sections.file:
        return max(every_file(task, task.here), key=dated, default=None)
    try:
        return resolve_one(task, ref, kind="file")
    except UnresolvedError:
        return None


def ask_next(task: Task, intent: Intent) -> str:
    """Ask the same of another file if the message names one ("and Mia?"), else another thing of the same file."""
    other = re.sub(r"(?i)^the |\bones?$|的$", "", intent.query).strip()
    try:
        item = resolve_one(task, Ref("name", text=other), kind="file")
    except UnresolvedError:
        return ask(task, replace(intent, query=intent.said))
    target = Ref("path", text=str(item.get("path")))
    return ask(task, replace(intent, query=task.conversation.earlier[0], target=target))


def _from_drive(task: Task, question: str, nearest: str = "") -> str:
    result = task.attempt("semantic_search_files", query=question[:500], limit=HITS, **task.below)
    if task.below and not result.hits:
        result = task.attempt("semantic_search_files", query=question[:500], limit=HITS)
    found = [
        (_best(Source(hit["file"], f"# {hit.get('heading') or ''}\n{hit.get('text', '')}"), question), hit["file"])
        for hit in result.hits
    ]
    graded = sorted(found, key=lambda one: -one[0].fit if one[0] else 0.0)
    files = list({str(file["id"]): file for _, file in graded}.values())[:MAX_READ]
    files = files or _with_words(task, question)
    results = task.ask([request("read_file", file_id=file["id"]) for file in files])
    if results and not any(one.worked for one in results):
        task.checked(results[0], "read_file", str(files[0].get("name", "")))
    sources = [_source(one, file) for one, file in zip(results, files, strict=True) if one.worked]
    told = [(source, *_answer(task, source, question)) for source in sources]
    if answered := [(source, answer) for source, answer, _ in told if answer]:
        old = word("outdated")
        answered.sort(key=lambda one: bool(old.search(one[0].called)) > bool(old.search(question)))
        return _newest(answered)
    nearest = nearest or next((near for _, _, near in told if near), "")
    return nearest or task.nothing_for(question, result)


def _with_words(task: Task, question: str) -> list[Item]:
    """Return the files that have most of a question's words, else those whose names nearly have them."""
    words = queries_of(question)
    found = task.ask([request("search_files", query=one, kind="file", limit=HITS) for one in words])
    files = {str(item["id"]): item for result in found for item in result.files}
    if files:
        counts = Counter(str(item["id"]) for result in found for item in result.files)
        return [files[key] for key, _ in counts.most_common(MAX_READ)]
    every = every_file(task)
    named = {str(file["id"]): set(terms(str(file["name"]).rpartition(".")[0])) for file in every}
    wanted = respelt(terms(question), set[str]().union(*named.values()))
    shared = sorted(every, key=lambda file: -len(wanted & named[str(file["id"])]))[:MAX_READ]
    return [file for file in shared if wanted & named[str(file["id"])]]


def _newest(answered: Sequence[tuple[Source, str]]) -> str:
    """Return the first answer; of files in one folder with dates in their names, the newest may take others back."""
    folders = [str(source.file.get("path")).rpartition("/")[0] for source, _ in answered]
    pairs = zip(answered, folders, strict=True)
    series = [one for one, folder in pairs if folder == folders[0] and dated(one[0].file)[0]]
    return (max(series, key=lambda one: dated(one[0].file)[0]) if answered[0] in series else answered[0])[1]


def _best(source: Source, question: str) -> Passage | None:
    """Return the passage that fits best; for a thing that the question numbers, only from its own parts."""
    number = named_number(question)
    if not number:
        return best_passage(read_sentences(source.text), question, source.called)
    asked = question.casefold().replace(str(source.file.get("name") or " ").casefold(), " ")
    wanted = word("identified").sub(" ", asked)
    parts = parts_of(source.text, number, source.called)
    own = [one for part in parts for one in read_sentences(source.text, *part)]
    passage = best_passage(own, wanted if terms(wanted) else question, source.called)
    return passage if passage and passage.is_sure else _across(own, wanted) or passage


def _across(sentences: Sequence[Sentence], asked: str) -> Passage | None:
    """Return the line whose label means the same as a question in the other language; if several may: all of them."""
    kind = kind_of(asked)
    lines = [one for one in sentences if has_han(one.text) != has_han(asked) and (not kind or kind.search(one.text))]
    said = "".join(one for one in asked if one not in STOP_CHARACTERS).strip(" ?？")
    near = likeness(said, tuple(re.split("[:：]", one.text)[0] for one in lines)) if said else ()
    ranked = sorted(zip(near, lines, strict=False), key=lambda one: -one[0])
    if not ranked:
        return None
    clear = kind is not None if len(ranked) == 1 else ranked[0][0] - ranked[1][0] >= FAR_AHEAD
    return Passage((ranked[0][1],) if clear else tuple(one for _, one in ranked[:MAX_READ]), 1.0, float(clear))


def _considered(source: Source, question: str) -> Passage | None:
    """Return the passage that fits best; where words find none, the sentence that is near by its meaning, not sure."""
    passage, sentences = _best(source, question), read_sentences(source.text)[:MAX_JUDGED]
    if named_number(question) or not terms(question):
        return passage
    name = str(source.file.get("name") or "").rpartition(".")[0]
    near = likeness(question, tuple(f"{name}: {one.text}" for one in sentences))
    top = max(range(len(near)), key=near.__getitem__, default=0)
    if not near:
        return passage
    if passage is None or passage.fit < WORTH_SHOWING:
        is_near = near[top] >= (NEAR if question.isascii() else NEAR_HAN)
        return Passage((sentences[top],), WORTH_SHOWING, 0.0) if is_near else passage
    return passage


def _answer(task: Task, source: Source, question: str) -> tuple[str, str]:
    """Return the answer if the file has a clear one, and the passage that comes nearest to one if any is near.

    Sums and comparisons of figures are beyond it.
    """
    sentences, asked, passage = read_sentences(source.text), question.lower(), _considered(source, question)
    of_one = len(word("identified").findall(asked)) == 1 and not word("sums").search(asked)
    reckoned = word("reckoned").search(asked) and not of_one
    if not reckoned and sentences and set(terms(question)) <= set(terms(source.called)) and not kind_of(question):
        return _quoting(task, source, key_sentences(sentences), "answer"), ""
    if passage is None:
        return "", ""
    is_sure = not reckoned and passage.is_sure and _says_total(asked, passage)
    answer = _quoting(task, source, passage.sentences, "answer") if is_sure else ""
    near = passage.fit >= WORTH_SHOWING
    return answer, _quoting(task, source, passage.sentences, "answer_unsure") if near else ""


def _says_total(asked: str, passage: Passage) -> bool:
    """Say whether a passage gives the total or the average itself that a question asks for; a row counts nothing."""
    wanted = {name: pattern for name, pattern in table("function") if pattern.search(asked)}
    if "count" in wanted and passage.sentences[0].is_row:
        return False
    said = " ".join(f"{one.heading} {one.text}".lower() for one in passage.sentences)
    summed = [pattern for name, pattern in wanted.items() if name in {"sum", "average"}]
    return not summed or any(pattern.search(said) for pattern in summed) or word("totals").search(asked) is None


def _quoting(task: Task, source: Source, sentences: Sequence[Sentence], code: str) -> str:
    quotes = "\n\n".join(f"> {source.words(one)} [1]" for one in sentences)
    return task.say(code, passage=quotes, **source.place(task, sentences))


def open_file(task: Task, intent: Intent) -> str:
    """Show the text of a file; a folder is listed."""
    item = resolve_one(task, intent.target, loose=True)
    if item.get("kind") == "folder":
        return listing.shown(task, item)
    result = task.call("read_file", str(item.get("name", "")), file_id=item["id"])
    text, file = result.word("text"), result.data.get("file") or item
    if not text.strip():
        return task.say("summary_unreadable", name=task.name(item))
    shown, first = text[:MAX_TEXT], result.number("first_line") or 1
    total = result.number("total_lines") or text.count("\n") + 1
    last = min(total, first + shown.rstrip("\n").count("\n"))
    fence = "~" * max(3, max((len(line) - len(line.lstrip("~")) for line in shown.splitlines()), default=0) + 1)
    lead = task.say("text", name=task.name(file), path=path_of(file), first=first, last=last, total=total)
    tail = [task.say("listing_cut")] if len(text) > len(shown) else []
    return "\n".join([lead, fence, shown.rstrip("\n"), fence, *tail])


def summarise(task: Task, intent: Intent) -> str:
    """Sum up a document in its own sentences: the one named, else the one that is about the topic."""
    ref = intent.target or Ref("open")
    topic = topic_of(ref.text) if ref.form == "name" else ""
    if not topic:
        try:
            item = resolve_one(task, ref, loose=True)
        except UnresolvedError as unresolved:
            if ref.form != "name" or "\n1. " in unresolved.text:
                raise
            topic = ref.text
        else:
            return (listing.shown if item.get("kind") == "folder" else sum_up)(task, item)
    result = task.attempt("semantic_search_files", query=topic[:500], limit=HITS)
    hits = relevant(result, topic)
    return sum_up(task, hits[0]["file"], topic) if hits else task.nothing_for(topic, result)


def sum_up(task: Task, item: Item, topic: str = "") -> str:
    """Sum up a file, or its sentences on a topic, in its own words, with the source."""
    source = read(task, item)
    chosen = key_sentences(read_sentences(source.text)[:MAX_SENTENCES], topic)
    if not chosen:
        return task.say("summary_unreadable", name=task.name(source.file))
    about = inert(topic or first_heading(source.text) or str(source.file.get("name", "")))
    lines = [task.say("summary_title", topic=about), "", *(f"- {inert(sentence.text)}" for sentence in chosen), ""]
    passage = f"“{source.words(chosen[0])}”"
    lines.append(task.say("summary_source", passage=passage, **source.place(task, chosen)))
    if len(source.text) < source.total:
        lines.append(task.say("summary_partial", shown=len(source.text), total=source.total))
    return "\n".join(lines)


def topic_of(query: str) -> str:
    """Return the topic that a query names, empty if it names none."""
    about = word("about").fullmatch(query)
    return next(filter(None, about.groups()), "") if about else ""


def relevant(result: Result, topic: str) -> list[Item]:
    """Return the hits that share words with the topic, at least half as many as the best does, the best first."""
    wanted = set(terms(topic))
    said = [
        f"{hit['file'].get('path') or hit['file'].get('name', '')} {hit.get('heading', '')} {hit.get('text', '')}"
        for hit in result.hits
    ]
    shared = [len(wanted & set(terms(one))) for one in said]
    graded = sorted(zip(shared, result.hits, strict=True), key=lambda one: -one[0])
    return [hit for count, hit in graded if not wanted or (count and 2 * count > max(shared))]
