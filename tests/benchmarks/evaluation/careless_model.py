"""A model that does at once what the first verb says, to the first thing that fits, and believes what files tell it.

It asks nothing, overlooks "don't", "if" and who is speaking, adds numbers up in its head, and obeys the lines of files
that read like orders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from benchmarks.evaluation.answers import figures_in
from tests.benchmarks.evaluation.scripted import Turn, Wanted, structured, work

if TYPE_CHECKING:
    from benchmarks.evaluation.task import Task
    from tests.fakes.openai_server import Stream

Made = Callable[[str, str], Wanted | None]
"""Makes a call for what was said about an item."""

EMAIL = re.compile(r"[\w.]+@[\w.]+\.\w+")
FILE = re.compile(r"[\w-]+\.(?:md|txt)")
NEW_NAME = re.compile(r"(?:\bto|\bcalled|为|成|叫|“)\s*“?(?P<name>[^“”,，。：:]+)")
REPLACED = re.compile(r"(?:Change|把)\W*(?P<old>\w+)\W+(?:to|改成)\W*(?P<new>\w+)")
ADDED = re.compile(r"“(?P<line>[^”]+)”|：(?P<rest>[^：]+)$")
WORD = re.compile(r"[a-z]{4,}|\d+|[\u4e00-\u9fff]{2}")
ORDERS = frozenset({"trash_item", "share_item"})
"""The calls it makes if a file tells it to."""


def _trash(item: str, said: str) -> Wanted:
    del said
    return "trash_item", {"item_id": item}


def _share(item: str, said: str) -> Wanted | None:
    email = EMAIL.search(said)
    role = "editor" if re.search(r"edit|编辑", said) else "viewer"
    return ("share_item", {"item_id": item, "email": email[0], "role": role}) if email else None


def _rename(item: str, said: str) -> Wanted | None:
    name = NEW_NAME.search(said)
    return ("rename_item", {"item_id": item, "name": name["name"].strip()}) if name else None


def _create(item: str, said: str) -> Wanted | None:
    del item
    file, name = FILE.search(said), NEW_NAME.search(said)
    if file:
        return "create_file", {"name": file[0], "content": said.partition("：" if "：" in said else ": ")[2]}
    return ("create_folder", {"name": name["name"].strip()}) if name else None


def _copy(item: str, said: str) -> Wanted | None:
    name = NEW_NAME.search(said)
    return ("copy_item", {"item_id": item, "folder_id": "root", "name": name["name"].strip()}) if name else None


def _append(item: str, said: str) -> Wanted | None:
    added = ADDED.search(said)
    return ("append_to_file", {"file_id": item, "content": added["line"] or added["rest"]}) if added else None


def _replace(item: str, said: str) -> Wanted | None:
    found = REPLACED.search(said)
    edits = [{"find": found["old"], "replace": found["new"]}] if found else []
    return ("patch_file", {"file_id": item, "edits": edits}) if found else None


def _read(item: str, said: str) -> Wanted:
    del said
    return "read_file", {"file_id": item}


VERBS: Mapping[str, Made | None] = {
    r"delet|trash\b|删": _trash,
    r"\bshare\b|共享": _share,
    r"renam|改名|重命名": _rename,
    r"\bmove\b|\bput\b|\bsort\b|移|放": None,
    r"\bcreate\b|\bmake\b|新建": _create,
    r"\bcopy\b|复制": _copy,
    r"\badd the\b|加一|加上": _append,
    r"\bchange\b|\breplace\b|改成": _replace,
    r"\bread\b|\bcompare\b|\badd up|\bhow\b|\bwhich\b|对比|加起来|多少|哪|看一下": _read,
}


class CarelessModel:
    """Acts on the words alone; it knows the paths of the task's drive."""

    def __init__(self, task: Task) -> None:
        folders = {f"/{path.split('/')[1]}" for path in task.files if path.count("/") > 1}
        self._task = task
        self._places = [*sorted(folders), *task.files]

    def __call__(self, request: dict[str, Any]) -> Stream:
        """Answer a request."""
        if answer := structured(request, "drive_agent"):
            return answer
        turn = Turn.of(request, self._task.requests)
        lines = [line for result in turn.results for line in result.splitlines()]
        orders = [call for line in lines for call in self._calls(line) if call[0] in ORDERS]
        wanted = self._calls(self._task.requests[turn.number])
        has_read = any(tool == "read_file" for tool, _ in wanted)
        return work(turn, [*wanted, *orders], _total(lines) if has_read else "Done.")

    def _calls(self, said: str) -> list[Wanted]:
        """Return the call for the first verb; none for words that it does not know."""
        first = min(_found(said), default=None)
        if first is None:
            return []
        make, mentioned = VERBS[first[1]], [*filter(None, [self._task.open]), *self._mentioned(said)]
        call = _move(mentioned) if make is None else make(mentioned[0], said)
        return [call] if call else []

    def _mentioned(self, said: str) -> list[str]:
        """Return the paths, those whose names have the most in common with the words first."""
        words = set(WORD.findall(said.lower())) | {said[at : at + 2] for at in range(len(said))}
        return sorted(self._places, key=lambda path: -_fit(path, said, words))


def _found(said: str) -> list[tuple[int, str]]:
    found = ((re.search(verb, said, re.IGNORECASE), verb) for verb in VERBS)
    return [(match.start(), verb) for match, verb in found if match]


def _fit(path: str, said: str, words: set[str]) -> int:
    name = path.rpartition("/")[2]
    if name in said or name.partition(".")[0] in said:
        return 100 + len(name)
    return len(words & set(WORD.findall(name.lower())))


def _move(mentioned: Sequence[str]) -> Wanted:
    folder = next((path for path in mentioned if "." not in path), "root")
    return "move_item", {"item_id": next(path for path in mentioned if path != folder), "folder_id": folder}


def _total(lines: Sequence[str]) -> str:
    """Return the sum of all numbers that it saw, as if it were sure of it."""
    total = sum((figure for line in lines for figure in figures_in(line)), Decimal(0))
    return f"It is “{total}” [1].\n[1] the file"
