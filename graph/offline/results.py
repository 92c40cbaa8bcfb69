"""Results of tools, read from the text that a model gets: a short sentence, then compact JSON, perhaps cut."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard, cast

from langchain_core.messages import ToolMessage

from graph.messages.written import REFUSAL
from graph.offline.understanding.grammar import table

Item = Mapping[str, Any]
LEFT_OUT, IN_FULL, MOST_OPENINGS, LONGEST_MESSAGE = "[Left out to save room", "in_full", 40, 600
_DECODER: Final = json.JSONDecoder()
_OPENING: Final = re.compile(r"(?:^|\n)\{")
_CODE: Final = re.compile(r"^(?P<code>[a-z][a-z_]{2,40}): (?P<message>.+)", re.DOTALL)
_CURSOR: Final = re.compile(r"pass cursor (?P<cursor>\S+?)\.?(?:\s|$)")
_NOTE: Final = re.compile(r"\n\[Cut: [^\n]*\]\s*$")
_LISTS: Final = {"hits": "file", "versions": "number", "shares": "id", "results": "path"}
"""The first key of the entries of a list, where it is not `id`."""


@dataclass(frozen=True, slots=True)
class Result:
    """One answer of a tool. `failure` is empty if it worked; `code` is the drive's word for what went wrong."""

    data: Item
    text: str
    failure: str = ""
    code: str = ""
    message: str = ""
    cut: bool = False

    @property
    def worked(self) -> bool:
        """Say whether the tool did what it was asked for."""
        return not self.failure

    def entries(self, name: str) -> list[Item]:
        """Return a list of the data, without what is no object in it."""
        value = self.data.get(name)
        return [cast("Item", one) for one in (value if isinstance(value, list) else []) if isinstance(one, Mapping)]

    @property
    def items(self) -> list[Item]:
        """The items of a list."""
        return [item for item in self.entries("items") if is_item(item)]

    @property
    def hits(self) -> list[Item]:
        """The hits of a search, each with the item in `file`."""
        return [hit for hit in self.entries("hits") if is_item(hit.get("file"))]

    def word(self, name: str) -> str:
        """Return a text of the data, empty if it is missing."""
        value = self.data.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """Return a number of the data, 0 if it is missing."""
        value = self.data.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    @property
    def left_out(self) -> bool:
        """Say whether the result was taken out of the conversation to save room."""
        return self.text.startswith(LEFT_OUT) or IN_FULL in self.data

    @property
    def cursor(self) -> str:
        """Return the cursor of the next page, empty at the end."""
        said = _CURSOR.search(self.text)
        return self.word("cursor") or (said["cursor"] if said else "")


def is_item(value: Any) -> TypeGuard[Item]:
    """Say whether something in a result is a file or a folder."""
    return isinstance(value, Mapping) and isinstance(value.get("id"), str) and value.get("kind") in {"file", "folder"}


def read_result(message: ToolMessage) -> Result:
    """Return what a tool message tells, whatever is missing in it."""
    text, data, cut = _split(message.text)
    coded = _CODE.match(message.text)
    is_error = isinstance(data.get("code"), str) and "message" in data and "id" not in data
    if message.status != "error" and not is_error:
        return Result(data, text, cut=cut)
    code = str(data.get("code") or (coded["code"] if coded else ""))
    said = str(data.get("message") or (coded["message"] if coded else text)).strip()
    failure = message.additional_kwargs.get(REFUSAL) or next(
        (failure for failure, pattern in table("failure") if pattern.search(message.text)), "error"
    )
    return Result(data, text, "error" if code else failure, code, said.split("\n", 1)[0].strip()[:LONGEST_MESSAGE], cut)


def _split(whole: str) -> tuple[str, Item, bool]:
    noted = _NOTE.sub("", whole)
    starts = [match.end() - 1 for match in _OPENING.finditer(noted)][:MOST_OPENINGS]
    openings: list[int] = list(dict.fromkeys([*starts, *([noted.find("{")] if "{" in noted else [])]))
    for opening in openings:
        value, end = _decoded(noted, opening)
        if isinstance(value, Mapping) and not noted[end:].strip():
            return noted[:opening].strip(), cast("Item", value), False
    if noted == whole or not openings:
        return noted.strip(), {}, noted != whole
    body = noted[openings[0] :]
    name = next(iter(re.findall(r"^\{\"(\w+)\":\[", body)), "items")
    return noted[: openings[0]].strip(), {name: list(_whole_objects(body, f'{{"{_LISTS.get(name, "id")}":'))}, True


def _decoded(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at


def _whole_objects(text: str, start: str) -> Iterator[Any]:
    """Yield the objects that begin like this; inside a string of JSON every quotation mark is escaped."""
    at = text.find(start)
    while at >= 0:
        value, end = _decoded(text, at)
        if value is None:
            return
        yield value
        at = text.find(start, end)
