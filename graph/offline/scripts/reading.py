"""Texts of files: as they are, summed up in their own sentences, and quoted as answers."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from graph.language import Language
from graph.offline.documents import (
    Passage,
    Sentence,
    asks_figure,
    best_passage,
    first_heading,
    key_sentences,
    read_sentences,
)
from graph.offline.identified import belonging, cut_at_numbers, named_number
from graph.offline.replay import Script, Steps, UnresolvedError, call, request
from graph.offline.results import Item, Result
from graph.offline.scripts import listing
from graph.offline.scripts.resolve import dated, every_file, queries_of, resolve_one, spoken_dates
from graph.offline.scripts.tables import compute
from graph.offline.scripts.task import ROOT, Task
from graph.offline.understanding.grammar import named_in, table, word
from graph.offline.understanding.intent import Intent, Ref, read_ref
from graph.offline.understanding.meaning import likeness
from graph.offline.understanding.terms import respelt, terms
from graph.offline.wording import inert, path_of, say, verbatim

_SUMS: Final = re.compile("[总共均]|合计|加起来|total|sum|together|average|differ|compar")
_TOTALS: Final = re.compile(
    r"\b(?:totals?|sums?|altogether|together|in all|average|overall)\b|总|一共|合计|加起来|平均"
)
_QUOTED: Final = re.compile(r"^> (.+?) \[1\]$", re.MULTILINE)
MOST_OWN, MOST_JUDGED = 4, 40
NEAR, NEAR_HAN, FAR_AHEAD, FEW_WORDS = 0.84, 0.888, 0.02, 1
"""Cosines: from these on a sentence may be shown for a question, and by this much one has to be nearer than another
that has no more than one of the question's words.
"""
SHORT, SHORT_HAN = 40, 10
"""Characters of a question that may leave out what was talked about."""
HITS, LONGEST_PASSAGE, WORTH_SHOWING, LONGEST_TEXT = 8, 500, 0.3, 3_000


class Source(NamedTuple):
    """A text that was read: which file, which part of it, and where the part begins."""

    file: Item
    text: str
    first_line: int
    total: int
    cut: bool

    def lines(self, sentences: Sequence[Sentence], language: Language) -> str:
        """Return the lines of the file that sentences of this text stand on."""
        first = self.first_line - 1 + min(one.line for one in sentences)
        last = self.first_line - 1 + max(one.last_line for one in sentences)
        return say(language, "line" if first == last else "lines", first=first, last=last)

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
        return f"{spoken_dates(self.path.rpartition('.')[0])} {first_heading(self.text)}"


def read(task: Task, item: Item) -> Steps[Source]:
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
    question = intent.query or intent.said
    named = yield from _named(task, question, intent.target)
    free = not named and not task.sections.attachments
    before = _before(task) if free and word("goes_on").search(question) else ""
    files = [named] if named else [item for item in task.given if item.get("kind") == "file"]
    shown = " ".join(one.text for one in task.conversation.answers()[:1])
    focus = [item for item in task.conversation.focus() if f"`{item.get('path')}`" in shown] if free else []
    focus = [item for item in focus if item.get("kind") == "file"]
    if before or len(question) <= (SHORT if question.isascii() else SHORT_HAN):
        files = [*focus, *files] if free else files
    nearest = ""
    for asked in filter(None, (question, f"{before} {question}" if before else "")):
        for own in files[:MOST_OWN]:
            # Of a table that was talked about, the search below asks as well, beside others.
            if own not in focus and (computed := (yield from compute(task, asked, own))):
                return computed
            source = yield from read(task, own)
            answer = _answer(task, source, asked)
            if answer and not (asked is not question and terms(question) and _repeats(answer, before)):
                return answer
            nearest = nearest or _nearest(task, source, asked)
    if files and (before or files != focus):
        nearest = nearest or task.say("answer_none_in", name=", ".join(map(task.name, files)))
    if files and (not free or before):
        return nearest
    return (yield from compute(task, question, None)) or (yield from _from_drive(task, question, nearest))


def _repeats(answer: str, before: str) -> bool:
    """Say whether an answer only quotes again what was quoted before; a row of a table may have another cell."""
    return all(quote[1] in before and "," not in quote[1] for quote in _QUOTED.finditer(answer))


def _nearest(task: Task, source: Source, question: str) -> str:
    """Return the passage that comes nearest to an answer, and that it is none for sure; empty if none is near."""
    passage = _considered(source, question)
    near = passage is not None and passage.fit >= WORTH_SHOWING
    return _quoting(task, source, passage.sentences, "answer_unsure") if passage and near else ""


def ask_next(task: Task, intent: Intent) -> Script:
    """Ask another thing of the file that answered before if it speaks of it, else the same of another thing."""
    wanted, before = set(terms(intent.query)), _asked_before(task)
    focus = [item for item in task.conversation.focus() if item.get("kind") == "file"][:1]
    for own in focus:
        source = yield from read(task, own)
        held = (set(terms(f"{one.heading} {one.text}")) for one in read_sentences(source.text) if not one.is_row)
        if any(wanted and wanted <= one for one in held):
            return (yield from ask(task, replace(intent, query=intent.said)))
    named = [path_of(own).rpartition("/")[2].rpartition(".")[0] for own in focus]
    question = _of_another(before, intent.query, " ".join(named))
    try:
        other = re.sub(r"(?i)^the |\bones?$|的$", "", intent.query).strip()
        item = yield from resolve_one(task, Ref("name", text=other), kind="file")
    except UnresolvedError:
        return (yield from ask(task, replace(intent, query=question, target=None)))
    return (yield from ask(task, replace(intent, query=question, target=Ref("path", text=str(item.get("path"))))))


def _of_another(question: str, other: str, called: str) -> str:
    """Return a question with another subject: a name in it, or words of the name of the file that answered it."""
    words = re.findall(r"[\u3400-\u9fff]{2,}|[A-Za-z0-9]{2,}", called)
    subject = next((one for one in words if re.search(rf"(?i)(?<![a-z]){one}(?![a-z])", question)), "")
    capital = re.search(r"(?<=\w )[A-Z]\w+(?: [A-Z]\w+)*", question)
    owner = re.match(r"[\u3400-\u9fff]{1,6}(?=的)", question)
    subject = subject or next((found[0] for found in (capital, owner) if found), "")
    if word("outdated").search(other):
        return question
    other = re.sub(r"(?:'s|的)$", "", other)
    return re.sub(rf"(?i){re.escape(subject)}", other, question, count=1) if subject else f"{question} {other}"


def _asked_before(task: Task) -> str:
    return next(
        (one.text for one in reversed(task.conversation.said) if one.by_person and one.turn < task.conversation.turn),
        "",
    )


def _named(task: Task, question: str, meant: Ref | None) -> Steps[Item | None]:
    """Return the file that a question names, or that is meant as its subject; the newest of a folder if it says so."""
    phrase = named_in("file_named", question) or named_in("in_file", question)
    ref = read_ref(phrase, file_open=task.sections.shows_file) if phrase else meant
    if ref is None and task.here is not ROOT and word("newest_one").search(question) and not task.sections.file:
        return max((yield from every_file(task, task.here)), key=dated, default=None)
    if ref is None or ref.kind == "folder" or ref.form not in {"name", "path", "it"}:
        return None
    try:
        return (yield from resolve_one(task, ref, kind="file"))
    except UnresolvedError:
        return None


def _before(task: Task) -> str:
    """Return what the person asked before, with the words of the answer that were quoted."""
    said = [one for one in task.conversation.said if one.turn == task.conversation.turn - 1]
    asked = " ".join(one.text for one in said if one.by_person)
    return " ".join([asked, *(quote[1] for one in said for quote in _QUOTED.finditer(one.text) if not one.by_person)])


def _from_drive(task: Task, question: str, nearest: str = "") -> Script:
    below = task.below
    result = yield from call("semantic_search_files", query=question[:500], limit=HITS, **below)
    if below and not result.hits:
        result = yield from call("semantic_search_files", query=question[:500], limit=HITS)
    graded = sorted(((_fit(hit, question), hit) for hit in result.hits), key=lambda one: one[0], reverse=True)
    files = list({str(hit["file"]["id"]): hit["file"] for _, hit in graded}.values())[:3]
    files = files or (yield from _with_words(task, question))
    results = (yield [request("read_file", file_id=file["id"]) for file in files]) if files else []
    sources = [_source(task, one, file) for one, file in zip(results, files, strict=True) if one.worked]
    answered = [(source, answer) for source in sources if (answer := _answer(task, source, question))]
    if answered:
        old = word("outdated")
        answered.sort(key=lambda one: bool(old.search(one[0].path)) > bool(old.search(question)))
        return _newest(answered)
    nearest = nearest or next(filter(None, (_nearest(task, source, question) for source in sources)), "")
    failed = [(file, one) for file, one in zip(files, results, strict=True) if not one.worked]
    if failed and not sources:
        file, one = failed[0]
        return task.failed(one, task.deed("read_file", str(file.get("name", ""))))
    return nearest or task.nothing_for(question, result)


def _with_words(task: Task, question: str) -> Steps[list[Item]]:
    """Return the files that have most of a question's words, else those whose names nearly have them."""
    words = queries_of(question)
    found = (yield [request("search_files", query=one, kind="file", limit=HITS) for one in words]) if words else []
    if not any(result.hits for result in found):
        every = yield from every_file(task)
        named = {str(file["id"]): set(terms(str(file["name"]).rpartition(".")[0])) for file in every}
        wanted = respelt(terms(question), set[str]().union(*named.values()))
        shared = sorted(every, key=lambda file: -len(wanted & named[str(file["id"])]))[:3]
        return [file for file in shared if wanted & named[str(file["id"])]]
    files = {str(hit["file"]["id"]): hit["file"] for result in found for hit in result.hits}
    counts = Counter(key for result in found for key in {str(hit["file"]["id"]) for hit in result.hits})
    return [files[key] for key, _ in counts.most_common(3)]


def _newest(answered: Sequence[tuple[Source, str]]) -> str:
    """Return the first answer; of files in one folder with dates in their names, the newest may take others back."""
    folder = answered[0][0].path.rpartition("/")[0]
    series = [one for one in answered if one[0].path.rpartition("/")[0] == folder and dated(one[0].file)[0]]
    first = answered[0] in series
    return (max(series, key=lambda one: dated(one[0].file)[0]) if first else answered[0])[1]


def _fit(hit: Item, question: str) -> float:
    source = Source(hit["file"], f"# {hit.get('heading') or ''}\n{hit.get('text', '')}", 1, 0, cut=False)
    passage = _best(source, question)
    return passage.fit if passage else 0.0


def _best(source: Source, question: str) -> Passage | None:
    """Return the passage that fits best; of a thing that the question names by its number only what belongs to it."""
    sentences = read_sentences(source.text)
    number = named_number(question)
    if not number:
        return best_passage(sentences, question, source.called)
    asked = question.casefold().replace(str(source.file.get("name") or " ").casefold(), " ")
    wanted = word("identified").sub(" ", asked)
    own = belonging(cut_at_numbers(sentences, source.text), number, source.called)
    return best_passage(own, wanted if terms(wanted) else question, source.called)


def _considered(source: Source, question: str) -> Passage | None:
    passage = _best(source, question)
    return passage if named_number(question) else _judged(source, question, passage)


def _judged(source: Source, question: str, passage: Passage | None) -> Passage | None:
    """Return the passage as the meanings of the sentences have it: with the one that is nearer by far, and not sure."""
    sentences = read_sentences(source.text)[:MOST_JUDGED]
    if (passage and any(one.is_row for one in passage.sentences)) or not terms(question):
        return passage
    near = likeness(
        question, tuple(f"{source.path.rpartition('/')[2].rpartition('.')[0]}: {one.text}" for one in sentences)
    )
    top = max(range(len(near)), key=near.__getitem__, default=0)
    if not near:
        return passage
    if passage is None or passage.fit < WORTH_SHOWING:
        is_near = near[top] >= (NEAR if question.isascii() else NEAR_HAN)
        return Passage((sentences[top],), WORTH_SHOWING, 0.0) if is_near else passage
    own = max((near[at] for at, one in enumerate(sentences) if one in passage.sentences), default=1.0)
    shared = set(terms(question)) & {term for one in passage.sentences for term in terms(one.text)}
    if passage.is_sure and len(shared) <= FEW_WORDS and near[top] - own >= FAR_AHEAD:
        return Passage((*passage.sentences[:1], sentences[top]), passage.fit, 0.0)
    return passage


def _answer(task: Task, source: Source, question: str) -> str:
    """Return the answer if the file has a clear one; sums and comparisons of figures are beyond it."""
    sentences = read_sentences(source.text)
    asked = question.lower()
    is_of_one = len(word("identified").findall(asked)) == 1 and not _SUMS.search(asked)
    if word("reckoned").search(asked) and not is_of_one:
        return ""
    if sentences and set(terms(question)) <= set(terms(source.called)) and not asks_figure(question):
        return _quoting(task, source, key_sentences(sentences), "answer")
    passage = _considered(source, question)
    if passage is None or not passage.is_sure or not _says_total(asked, passage):
        return ""
    return _quoting(task, source, passage.sentences, "answer")


def _says_total(asked: str, passage: Passage) -> bool:
    """Say whether a passage gives the total or the average itself that a question asks for, if it asks for one."""
    wanted = [pattern for name, pattern in table("function") if name in {"sum", "average"} and pattern.search(asked)]
    said = " ".join(f"{one.heading} {one.text}".lower() for one in passage.sentences)
    return not wanted or any(pattern.search(said) for pattern in wanted) or _TOTALS.search(asked) is None


def _quoting(task: Task, source: Source, sentences: Sequence[Sentence], code: str) -> str:
    quotes = "\n\n".join(f"> {source.words(one)} [1]" for one in sentences)
    where_it_is = {"path": path_of(source.file), "lines": source.lines(sentences, task.language)}
    return task.say(code, name=task.name(source.file), passage=quotes, **where_it_is)


def open_file(task: Task, intent: Intent) -> Script:
    """Show the text of a file; a folder is listed."""
    item = yield from resolve_one(task, intent.target, loose=True)
    if item.get("kind") == "folder":
        return (yield from listing.shown(task, item))
    result = yield from task.call("read_file", str(item.get("name", "")), file_id=item["id"])
    text, file = result.word("text"), result.data.get("file") or item
    if not text.strip():
        return task.say("summary_unreadable", name=task.name(item))
    shown, first = text[:LONGEST_TEXT], result.number("first_line") or 1
    total = result.number("total_lines") or text.count("\n") + 1
    last = min(total, first + shown.rstrip("\n").count("\n"))
    fence = "~" * max(3, max((len(line) - len(line.lstrip("~")) for line in shown.splitlines()), default=0) + 1)
    lead = task.say("text", name=task.name(file), path=path_of(file), first=first, last=last, total=total)
    tail = [task.say("listing_cut")] if len(text) > len(shown) or result.cut else []
    return "\n".join([lead, fence, shown.rstrip("\n"), fence, *tail])


def summarise(task: Task, intent: Intent) -> Script:
    """Sum up a document in its own sentences: the one named, else the one that is about the topic."""
    item, topic = yield from _document(task, intent.target or Ref("open"))
    if item.get("kind") == "folder":
        return (yield from listing.shown(task, item))
    return (yield from sum_up(task, item, topic))


def sum_up(task: Task, item: Item, topic: str = "") -> Script:
    """Sum up a file, or what it says of a topic, in its own sentences, with the source."""
    source = yield from read(task, item)
    chosen = key_sentences(read_sentences(source.text), topic)
    if not chosen:
        return task.say("summary_unreadable", name=task.name(source.file))
    return _shown(task, source, chosen, topic)


def _document(task: Task, ref: Ref) -> Steps[tuple[Item, str]]:
    topic = topic_of(ref.text) if ref.form == "name" else ""
    if not topic:
        try:
            return (yield from resolve_one(task, ref, loose=True)), ""
        except UnresolvedError as unresolved:
            if ref.form != "name" or "\n1. " in unresolved.text:
                raise
    topic = topic or ref.text
    result = yield from call("semantic_search_files", query=topic[:500], limit=5)
    hits = relevant(result, topic)
    if not hits:
        raise UnresolvedError(task.nothing_for(topic, result))
    return hits[0]["file"], topic


def _shown(task: Task, source: Source, chosen: Sequence[Sentence], topic: str) -> str:
    about = inert(topic or first_heading(source.text) or str(source.file.get("name", "")))
    where_it_is = {"path": path_of(source.file), "lines": source.lines(chosen, task.language)}
    lines = [task.say("summary_title", topic=about), "", *(f"- {inert(sentence.text)}" for sentence in chosen), ""]
    passage = f"“{source.words(chosen[0])}”"
    lines.append(task.say("summary_source", name=task.name(source.file), passage=passage, **where_it_is))
    if source.cut:
        lines.append(task.say("summary_partial", shown=len(source.text), total=source.total))
    return "\n".join(lines)


def topic_of(query: str) -> str:
    """Return what something is to be about, empty if it is named otherwise."""
    about = word("about").fullmatch(query)
    return next(filter(None, about.groups()), "") if about else ""


def relevant(result: Result, topic: str) -> list[Item]:
    """Return the hits that share words with the topic, at least half as many as the best does, the best first."""
    wanted = set(terms(topic))
    said = [
        f"{hit['file'].get('path') or hit['file'].get('name', '')} {hit.get('heading', '')} {hit.get('text', '')}"
        for hit in result.hits
    ]
    graded = [(len(wanted & set(terms(one))), -rank, result.hits[rank]) for rank, one in enumerate(said)]
    most = max((shared for shared, _, _ in graded), default=0)
    near = [entry for entry in graded if not wanted or (entry[0] and 2 * entry[0] > most)]
    return [hit for _, _, hit in sorted(near, key=lambda entry: entry[:2], reverse=True)]
