"""Results of tools as models read them: one line an item, without fields that nobody asks for.

A thread stores a result as a sentence and its data in JSON, which the product reads. A model gets the same data in a
fraction of the tokens (`python -m benchmarks.agent.prompts`). A text of a file stands between two lines of tildes, of
which it has none as long; any other value that could pass for more than one is a JSON string. So no file can imitate a
line, nor a part of one.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeGuard, cast

from graph.messages.short_ids import ShortIds
from graph.moment import local_time
from graph.prompts import compact

Data = Mapping[str, Any]

NOT_SHOWN: Final = frozenset(
    {"messages", "method", "key_name", "tool_call_id", "approval_id", "grant_id", "approved_key", "action"}
    | {"parent_id", "media_type", "uri", "address", "score", "in_full"}
)
"""Fields that models are not sent: they repeat the rest, or are for people and programs."""
LEADING: Final = ("id", "number", "at", "created_at", "path", "name", "summary")
"""Fields that begin a line, without their names."""
ITEM_FACTS: Final = frozenset({"id", "kind", "path"})
_DATA: Final = re.compile(r"(?:^|\n)(?P<data>\{[^\n]*\})(?P<note>\n\[Cut: [^\n]*\])?$")
_MOMENT: Final = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)T(?P<time>\d\d:\d\d)(?::[\d.]+)?(?P<zone>Z|[+-]\d\d:\d\d)")
_PLAIN: Final = re.compile(r"[^\s\"'=,;{}\[\]()]+")
_TILDES: Final = re.compile(r"~{3,}")
_HOLDS_IDS: Final = re.compile(r"(?:.*_)?ids?")
"""Fields whose ids are shortened. A value that looks like an id elsewhere may be the cell of a table, or a name."""
_SEPARATOR: Final = re.compile(r"[,;] |^\"")
"""The sign between the parts of a line: in a path it could pass for a fact of the drive."""
_SURELY_SAID: Final = 8
"""Characters of a value from which on a sentence has it as a value, and not as part of a name."""
_SAME_IN_ALL: Final = 2
"""From so many entries on, a value common to all is said once."""


def compact_result(text: str, ids: ShortIds | None = None, time_zone: str = "") -> str:
    """Return a result as a model gets it, with times in the zone of that IANA name; one without data as it is."""
    found = _DATA.search(text)
    data = _parsed(found["data"]) if found else None
    if found is None or data is None:
        return text
    return _Writer(ids or ShortIds(), time_zone).result(text[: found.start()], data) + (found["note"] or "")


def data_of(text: str) -> Data | None:
    """Return the data of a result as a thread stores it; None if it has none."""
    found = _DATA.search(text)
    return _parsed(found["data"]) if found else None


def _parsed(text: str) -> Data | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("Data", value) if isinstance(value, Mapping) else None


class _Writer:
    """Writes one result."""

    def __init__(self, ids: ShortIds, time_zone: str) -> None:
        self._ids = ids
        self._time_zone = time_zone

    def result(self, sentence: str, data: Data) -> str:
        """Return the sentence, and below it the data that it leaves out."""
        lines = [self._ids.in_sentence(sentence), *self._body(sentence, data)]
        return "\n".join(line for line in lines if line)

    def _body(self, sentence: str, data: Data) -> Iterator[str]:
        if _is_item(data):
            said = sentence.replace(str(data["path"]), "")
            yield ", ".join(fact for fact in self._facts(data) if fact not in said)
        elif _is_item(data.get("item")) and "children" in data:
            yield from self._branch(data, 0)
        elif isinstance(data.get("text"), str) and _is_item(data.get("file")):
            yield from self._text(data)
        else:
            for name, value in data.items():
                if name not in NOT_SHOWN and not _is_empty(value) and not _is_said(value, sentence):
                    yield from self._field(name, value)

    def _text(self, data: Data) -> Iterator[str]:
        start, end, total = (data.get(name) for name in ("start", "end", "total_characters"))
        if total is not None and end == total and not start:
            yield "the whole text"
        elif end != total or start:
            yield f"characters {start}-{end} of {total}" + (f", go on with start={end}" if end != total else "")
        if "=" in (place := str(data.get("place") or "")) and not place.startswith("line="):
            yield one_line(place)
        yield _fenced(data["text"])

    def _field(self, name: str, value: Any) -> Iterator[str]:
        if isinstance(value, list) and all(isinstance(entry, Mapping) for entry in cast("list[Any]", value)):
            yield from self._table(name, cast("list[Data]", value))
        elif _is_item(value):
            yield f"{name}: {self._item(value)}"
        elif isinstance(value, str) and "\n" in value:
            yield f"{name}:\n{_fenced(value)}"
        else:
            yield f"{name}: {self._value(name, value)}"

    def _table(self, name: str, entries: Sequence[Data]) -> Iterator[str]:
        line = self._line_of(entries)
        if line is None:
            shown = [_shown(entry) for entry in entries]
            same = _same_in_all(shown)
            yield f"{name} (each: {self._named(same)}):" if same else f"{name}:"
            yield from (f"- {self._entry({key: one[key] for key in one if key not in same})}" for one in shown)
            return
        if name not in {"items", "hits"}:
            yield f"{name}:"
        yield from (f"- {line(entry)}" for entry in entries)

    def _line_of(self, entries: Sequence[Data]) -> Callable[[Data], str] | None:
        if all(_is_item(entry) for entry in entries):
            return self._item
        if all(_is_item(entry.get("file")) and "text" in entry for entry in entries):
            return self._hit
        return None

    def _item(self, item: Data) -> str:
        facts = [fact for fact in self._facts(item) if fact != "version 1" and not fact.startswith("etag ")]
        return ", ".join([f"{self._ids.short(str(item['id']))} {_path(item)}", *facts])

    def _facts(self, item: Data) -> Iterator[str]:
        """Yield the facts of an item beside its id and path, without the usual values."""
        is_file = item["kind"] == "file"
        for name, form in _FACTS.items():
            value = item.get(name)
            if not _is_empty(value) and (is_file or name not in {"size", "version"}):
                yield form.format(self._value(name, value))
        yield from self._dates(item)
        if item.get("role") not in {None, "owner"}:
            yield f"{item['role']}, owner {item.get('owner')}"
        if item.get("index_state") in {"failed", "skipped"}:
            yield f"text {item['index_state']}"
        if item.get("shared"):
            yield "shared"

    def _dates(self, item: Data) -> Iterator[str]:
        """Yield the date of the content, and when the drive last changed the item if that is another minute."""
        own, changed = (self._value(name, item.get(name) or "") for name in ("modified_at", "updated_at"))
        yield from [own] if item.get("modified_at") else []
        if item.get("updated_at") and changed != own:
            yield f"changed here {changed}" if item.get("modified_at") else changed
        if item.get("trashed_at"):
            yield f"trashed {self._value('trashed_at', item['trashed_at'])}"

    def _hit(self, hit: Data) -> str:
        file: Data = hit["file"]
        line, words = self._item(file), str(hit.get("text") or "")
        if not words or words == file.get("name"):
            return line
        where = [f"version {hit['version']}"] if hit.get("version") else []
        where += [one_line(str(hit["place"]))] if hit.get("place") else []
        where += [f"characters {hit['start']}-{hit['end']}"] if hit.get("end") else []
        where += [f"score {hit['score']:.2f}"] if isinstance(hit.get("score"), int | float) else []
        heading = f"{_string(hit['heading'])}: " if hit.get("heading") else ""
        return f"{line}; {', '.join(where)}: {heading}{_string(words)}"

    def _entry(self, entry: Data) -> str:
        leading = " ".join(self._value(name, entry[name], bare=True) for name in LEADING if name in entry)
        rest = self._named({name: value for name, value in entry.items() if name not in LEADING})
        return "; ".join(part for part in (leading, rest) if part)

    def _named(self, values: Data) -> str:
        return ", ".join(f"{name}={self._value(name, value)}" for name, value in values.items())

    def _branch(self, node: Data, depth: int) -> Iterator[str]:
        item: Data = node["item"]
        label = _path(item) if not depth else _plain_or_string(f"{item.get('name')}{_slash(item)}")
        more = " …" if node.get("truncated") else ""
        yield f"{'  ' * depth}- {self._ids.short(str(item['id']))} {label}{more}"
        for child in cast("list[Data]", node.get("children") or []):
            yield from self._branch(child, depth + 1)

    def _value(self, name: str, value: Any, *, bare: bool = False) -> str:
        if not isinstance(value, str):
            return compact(self._lean(name, value))
        if moment := _MOMENT.fullmatch(value):
            return self._time(moment)
        short = self._short(name, value)
        return one_line(short) if bare else _plain_or_string(short)

    def _time(self, moment: re.Match[str]) -> str:
        """Return a time where the person is, as `2026-11-29 16:50+08:00`; without a zone as the drive writes it."""
        shown = f"{moment['day']} {moment['time']}{moment['zone']}"
        if not self._time_zone:
            return shown
        at = local_time(datetime.fromisoformat(shown.replace("Z", "+00:00")), self._time_zone)
        return _written(at)

    def _lean(self, name: str, value: Any) -> Any:
        """Return nested data with short ids, and without empty or hidden values."""
        if isinstance(value, Mapping):
            entries = cast("Data", value).items()
            return {key: self._lean(key, one) for key, one in entries if key not in NOT_SHOWN and not _is_empty(one)}
        if isinstance(value, list):
            return [self._lean(name, one) for one in cast("list[Any]", value)]
        return self._short(name, value) if isinstance(value, str) else value

    def _short(self, name: str, value: str) -> str:
        return self._ids.short(value) if _HOLDS_IDS.fullmatch(name) else value


def _written(at: datetime) -> str:
    offset = f"{at:%z}"
    return f"{at:%Y-%m-%d %H:%M}{offset[:3]}:{offset[3:5]}"


_FACTS: Final = {
    "etag": "etag {}",
    "size": "{} B",
    "version": "version {}",
    "child_count": "{} inside",
}


def _shown(entry: Data) -> Data:
    return {name: value for name, value in entry.items() if name not in NOT_SHOWN and not _is_empty(value)}


def _same_in_all(entries: Sequence[Data]) -> Data:
    if len(entries) < _SAME_IN_ALL:
        return {}
    first, *others = entries
    return {
        name: value
        for name, value in first.items()
        if name not in LEADING and all(other.get(name) == value for other in others)
    }


def _is_item(value: Any) -> TypeGuard[Data]:
    return isinstance(value, Mapping) and cast("Data", value).keys() >= ITEM_FACTS


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value in ("", [], {})


def _is_said(value: Any, sentence: str) -> bool:
    return isinstance(value, str) and len(value) >= _SURELY_SAID and value in sentence


def _path(item: Data) -> str:
    return one_line(f"{item['path']}{_slash(item)}")


def _slash(item: Data) -> str:
    return "/" if item.get("kind") == "folder" and not str(item.get("path")).endswith("/") else ""


def one_line(text: str) -> str:
    """Return a path or a sentence of the drive as it is, if it is one part of one line; else as a JSON string."""
    return text if text.isprintable() and not _SEPARATOR.search(text) else _string(text)


def _plain_or_string(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text.isprintable() else _string(text)


def _string(text: str) -> str:
    """Return the text as a JSON string on one line, with escapes for all that is not printed."""
    written = json.dumps(text, ensure_ascii=False)
    return written if written.isprintable() else "".join(map(_escaped, written))


def _escaped(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _fenced(text: str) -> str:
    """Return a text between lines of tildes, more of them than it has anywhere in a row."""
    fence = "~" * (max((len(run) for run in _TILDES.findall(text)), default=2) + 1)
    return f"{fence}\n{text}\n{fence}"
