"""Texts written into files: what was dictated, and summaries, into a new file or at the end of a document."""

import re
from collections.abc import Generator, Sequence
from typing import Final

from graph.offline.documents import first_heading, key_sentences, read_sentences
from graph.offline.reading.results import Item, Result
from graph.offline.replay import Request, Script, call, request
from graph.offline.scripts.reading import read
from graph.offline.scripts.resolve import resolve_folder, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.intent import Intent, Ref
from graph.offline.wording import inert, path_of, quoted, sides, span

LONGEST_TOPIC, SHOWN = 60, 180
_TITLES: Final = tuple(
    re.compile(re.escape(side).replace(r"\{topic\}", "(?P<topic>.+?)")) for side in sides("summary_title")
)
_UNSAFE: Final = re.compile(r"[/\\\x00-\x1f“”\"]+|\.\w{1,5}\s*$")
WRITING: Final = frozenset({"patch_file", "append_to_file"})
Summary = Generator[Sequence[Request], Sequence[Result], tuple[str, str]]


def create_file(task: Task, intent: Intent) -> Script:
    """Make a file with the text that was dictated."""
    if not intent.names:
        return task.say("missing_name")
    parent = yield from resolve_folder(task, intent.destination or Ref("here"))
    return (yield from one_file(task, parent, intent.names[0], intent.content, "created"))


def one_file(task: Task, parent: Item, name: str, content: str, code: str) -> Script:
    """Make a file and say so; if its name is taken, ask for another one."""
    name = name if "." in name.strip(".") else f"{name}.md"
    result = yield from call("create_file", name=name, content=content, parent_id=parent["id"])
    if result.code == "name_conflict":
        return task.say("name_taken", name=quoted(name), message=result.message)
    made = task.checked(result, "create_file", name).data or {"name": name}
    task.made.append(made)
    return task.with_hint(task.say(code, name=task.name(made), path=path_of(made)), "can_undo")


def save_summary(task: Task, intent: Intent) -> Script:
    """Write a summary into a new file, with its source: of what is meant, or the one that was given last."""
    said, topic = last_summary(task) if intent.target and intent.target.form == "summary" else ("", "")
    if not said:
        said, topic = yield from _summed_up(task, intent)
    folder = yield from resolve_folder(task, intent.destination or Ref("here"))
    name = intent.names[0] if intent.names else task.say("summary_name", topic=topic).strip()
    return (yield from one_file(task, folder, name, said, "created"))


def _summed_up(task: Task, intent: Intent) -> Summary:
    """Return a summary of the document that is meant, as the text of a file, and its topic."""
    ref = intent.target if intent.target and intent.target.form != "summary" else Ref("it")
    source = yield from read(task, (yield from resolve_one(task, ref, kind="file", loose=True)))
    chosen = key_sentences(read_sentences(source.text))
    if not chosen:
        raise task.unresolved("summary_unreadable", name=task.name(source.file))
    topic = inert(first_heading(source.text) or str(source.file.get("name", "")))
    lines = [inert(sentence.text) for sentence in chosen]
    where = span(*source.lines(chosen), task.language)
    parts = {"topic": topic, "list": _bullets(lines), "name": task.name(source.file), "lines": where}
    return task.say("summary_file", **parts, path=path_of(source.file)), file_topic(topic)


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def add_summary(task: Task, intent: Intent) -> Script:
    """Add a summary of a document at its end."""
    ref = intent.target if intent.target and intent.target.form in {"name", "path"} else Ref("open")
    item = yield from resolve_one(task, ref, kind="file", loose=True)
    content = ""
    if made_already(task, item) is None:
        chosen = key_sentences(read_sentences((yield from read(task, item)).text))
        if not chosen:
            return task.say("summary_unreadable", name=task.name(item))
        content = task.say("summary_section", list=_bullets([inert(one.text) for one in chosen]))
    return (yield from _append(task, item, content))


def last_summary(task: Task) -> tuple[str, str]:
    """Return the newest summary that the assistant gave and its topic as a file name has it; empty without any."""
    results = [str(step.get("result") or "") for step in reversed(task.sections.earlier_results)]
    texts = (*(said.text for said in task.conversation.answers()), *results)
    found = next(((text, title) for text in texts for one in _TITLES if (title := one.match(text.strip()))), None)
    return (found[0], file_topic(found[1]["topic"])) if found else ("", "")


def file_topic(topic: str) -> str:
    """Return a topic as a file's name can have it."""
    return _UNSAFE.sub(" ", topic).strip()[:LONGEST_TOPIC].strip()


def add_text(task: Task, intent: Intent) -> Script:
    """Add a passage at the end."""
    if not intent.content:
        return task.say("missing_content")
    item = yield from resolve_one(task, intent.target or Ref("open"), kind="file")
    return (yield from _append(task, item, intent.content))


def _append(task: Task, item: Item, content: str) -> Script:
    one = made_already(task, item) or request("append_to_file", file_id=item["id"], content=content)
    task.checked((yield from call(one.name, **one.args)), one.name, str(item.get("name", "")))
    shown = inert(" ".join(str(one.args.get("content", "")).split())[:SHOWN])
    return task.with_hint(task.say("inserted", name=task.name(item), content=shown), "can_undo")


def made_already(task: Task, item: Item) -> Request | None:
    """Return this step's edit of the document if it was made: the text is shown as it is after it."""
    made = (one for one in task.conversation.running if one.name in WRITING and one.args.get("file_id") == item["id"])
    return next((Request(one.name, one.args) for one in made), None)
