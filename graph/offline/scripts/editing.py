"""Changing the text of a file: words for others, or a value for another."""

import re
from dataclasses import replace
from typing import Final

from graph.offline.conversation import Item
from graph.offline.documents import read_sentences
from graph.offline.scripts.reading import read
from graph.offline.scripts.resolve import resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in, terms, word
from graph.offline.understanding.intent import Intent, Ref, read_ref
from graph.offline.wording import quoted

SHOWN, MAX_EDITS = 60, 100
_VALUE: Final = re.compile(r"(?P<figure>\d+(?:[.,:]\d+)*)(?P<unit>\s?[^\W\d_]*)")
Edit = dict[str, str]


def replace_text(task: Task, intent: Intent) -> str:
    """Replace every occurrence, in one call whose edits each match once."""
    old, new = intent.edits[0] if intent.edits else ("", "")
    valued = not old and bool(new and intent.anchor)
    if (not old and not valued) or (intent.action == "replace" and not new):
        return task.say("missing_text")
    item, topic = _place(task, intent, valued=valued)
    source = read(task, item)
    old, new = value_in(source.text, topic, new) if valued else (old, new)
    if not old:
        return task.say("missing_text")
    whole = len(source.text) >= source.total
    intent = replace(intent, edits=((old, new),), anchor=topic)
    edits = _planned(source.text, intent) if whole else [{"find": old, "replace": new}]
    facts = {"name": task.name(item), "find": quoted(old, SHOWN), "count": len(edits)}
    if not 0 < len(edits) <= MAX_EDITS:
        return task.say("too_many_matches" if edits else "no_match", **facts)
    result = task.call("patch_file", str(item.get("name", "")), file_id=item["id"], edits=edits)
    edited = task.say("edit_line" if new else "edit_line_removed", replace=quoted(new, SHOWN), **facts)
    facts |= {"edits": edited, "version": result.number("version") or "?"}
    return task.with_hint(task.say("edited", **facts), "can_undo")


def _place(task: Task, intent: Intent, *, valued: bool) -> tuple[Item, str]:
    """Return the file, and the thing in it that gets another value: "the deposit in the rental", 租约的押金."""
    ref, topic = intent.target, intent.anchor
    parts = named_in("value_place", topic), named_in("value_topic", topic)
    if valued and ref is None and all(parts):
        ref, topic = read_ref(parts[0]), parts[1]
    return resolve_one(task, ref or Ref("open"), kind="file", loose=valued), topic


def value_in(text: str, topic: str, new: str) -> tuple[str, str]:
    """Return the one value of a topic in a text and the new one, both with its unit; empty if it is not clear."""
    figure, about = _VALUE.match(new), _about(text, topic)
    if figure is None or len(about) != 1:
        return "", ""
    said, unit = text[about[0][0] : about[0][1]], new[figure.end("figure") :].strip()
    values = list(_VALUE.finditer(said))
    same = [one for one in values if unit and one["unit"].strip().startswith(unit)]
    fitting = same or [one for one in values if not (unit and one["unit"].strip())]
    after = [one for one in fitting if topic in said and one.start() >= said.index(topic)]
    fitting = fitting if len(fitting) == 1 else after[:1]
    if not fitting:
        return "", ""
    blank = " " if fitting[0]["unit"][:1] == " " else ""
    written = f"{blank}{unit}" if same else ""
    return fitting[0]["figure"] + written, figure["figure"] + (written or new[figure.end("figure") :])


def _about(text: str, topic: str) -> list[tuple[int, int]]:
    """Return where the sentences stand that speak of all of a topic."""
    wanted = set(terms(topic))
    sentences = read_sentences(text) if wanted else []
    return [(one.start, one.end) for one in sentences if wanted <= set(terms(f"{one.heading} {one.text}"))]


def _planned(text: str, intent: Intent) -> list[Edit]:
    """Return edits whose `find` stands once in the text as it is by then, for every occurrence from the end on."""
    if intent.again:
        return [{"find": was, "replace": now} for was, now in intent.again if text.count(was) == 1]
    (old, new), edits = intent.edits[0], list[Edit]()
    lines = [line for line in text.splitlines(keepends=True) if old in line]
    if intent.action == "remove_text" and len(lines) == 1 and word("a_line").search(intent.said):
        old = lines[0]
    about = [one for one in _about(text, intent.anchor) if _places_of(text[slice(*one)], old)]
    low, high = about[0] if len(about) == 1 else (0, len(text))
    for start, end in reversed([one for one in _places_of(text, old) if low <= one[0] < high]):
        left, right = _unique_around(text, start, end, new)
        changed = text[left:start] + new + text[end:right]
        edits.append({"find": text[left:right], "replace": changed})
        text = text[:left] + changed + text[right:]
    return edits


def _places_of(text: str, find: str) -> list[tuple[int, int]]:
    literal, loose = re.escape(find), r"\s+".join(map(re.escape, find.split()))
    before = r"(?<![A-Za-z0-9_])" if re.match(r"\w", find, re.ASCII) else ""
    after = r"(?![A-Za-z0-9_])" if re.search(r"\w$", find, re.ASCII) else ""
    readings = (before + literal + after, f"(?i:{before}{loose}{after})", literal, f"(?i:{loose})")
    found = ([match.span() for match in re.finditer(pattern, text)] for pattern in readings if find.strip())
    return next((spans for spans in found if spans), [])


def _unique_around(text: str, start: int, end: int, new: str) -> tuple[int, int]:
    """Return the ends of a passage that stands once in the text, and that is found once after the change, too."""
    at, stop = start, end
    while (start > 0 or end < len(text)) and (
        text.count(text[start:end]) != 1 or (new and text.count(text[start:at] + new + text[stop:end]))
    ):
        left, right = text.rfind("\n", 0, max(start - 1, 0)) + 1, text.find("\n", end + 1)
        start, end = left if start else 0, right if right >= 0 else len(text)
    return start, end
