"""What a tool answered, read from the text that a model gets: a short sentence, then compact JSON, perhaps cut."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeGuard, cast

from langchain_core.messages import ToolMessage

Failure = Literal["", "rejected", "expired", "answered", "moved on", "unknown", "error"]

_DECODER: Final = json.JSONDecoder()
_OPENING = re.compile(r"(?:^|\n)\{")
_CODE = re.compile(r"^(?P<code>[a-z][a-z_]{2,40}): (?P<message>.+)", re.DOTALL)
_CURSOR = re.compile(r"pass cursor (?P<cursor>\S+?)\.?(?:\s|$)")
_NOTE = re.compile(r"\n\[Cut: [^\n]*\]\s*$")
LEFT_OUT: Final = "[Left out to save room"
IN_FULL: Final = "in_full"
"""Key in the data of an excerpt, which says where the whole result is."""
MOST_OPENINGS: Final = 40
_STARTS: Final = {
    "items": '{"id":',
    "hits": '{"file":',
    "changes": '{"id":',
    "undone": '{"id":',
    "versions": '{"number":',
    "shares": '{"item_id":',
    "results": '{"path":',
}
"""How the entries of each kind of list begin."""


_FAILURES: Final[tuple[tuple[Failure, re.Pattern[str]], ...]] = (
    ("expired", re.compile(r"expired|timed out waiting|过期", re.IGNORECASE)),
    ("answered", re.compile(r"answered instead|用户的回复", re.IGNORECASE)),
    ("rejected", re.compile(r"reject|declined|denied by|said no|not approved|拒绝|未获批准", re.IGNORECASE)),
    ("moved on", re.compile(r"moved on|not executed|未执行", re.IGNORECASE)),
    ("unknown", re.compile(r"may or may not have happened|interrupted before", re.IGNORECASE)),
)


@dataclass(frozen=True, slots=True)
class Result:
    """One answer of a tool. `failure` is empty if it worked; `code` is the drive's word for what went wrong.

    `message` is the sentence of a failure, `cut` says that the data did not arrive whole.
    """

    data: Mapping[str, Any]
    text: str
    failure: Failure = ""
    code: str = ""
    message: str = ""
    cut: bool = False

    @property
    def worked(self) -> bool:
        """Whether the tool did what it was asked for."""
        return not self.failure

    def entries(self, name: str) -> list[Mapping[str, Any]]:
        """Return a list of the data, without what is no object in it."""
        value = self.data.get(name)
        listed = cast("list[Any]", value) if isinstance(value, list) else []
        return [cast("Mapping[str, Any]", entry) for entry in listed if isinstance(entry, Mapping)]

    @property
    def items(self) -> list[Mapping[str, Any]]:
        """The items of a list."""
        return [item for item in self.entries("items") if is_item(item)]

    @property
    def hits(self) -> list[Mapping[str, Any]]:
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
        """Whether the result was taken out of the conversation to save room."""
        return self.text.startswith(LEFT_OUT) or IN_FULL in self.data

    @property
    def cursor(self) -> str:
        """Where the next page begins, empty at the end."""
        said = _CURSOR.search(self.text)
        return self.word("cursor") or (said["cursor"] if said else "")


def is_item(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Say whether something in a result is a file or a folder."""
    if not isinstance(value, Mapping):
        return False
    item = cast("Mapping[str, Any]", value)
    return isinstance(item.get("id"), str) and item.get("kind") in {"file", "folder"}


def read_result(message: ToolMessage) -> Result:
    """Return what a tool message tells, whatever is missing in it."""
    whole = message.text
    text, data, cut = _split(whole)
    coded = _CODE.match(whole)
    failed = message.status == "error" or (isinstance(data.get("code"), str) and "message" in data and "id" not in data)
    if not failed:
        return Result(data, text, cut=cut)
    code = str(data.get("code") or (coded["code"] if coded else ""))
    said = str(data.get("message") or (coded["message"] if coded else text)).strip()
    failure: Failure = "error" if code else _failure(whole)
    return Result(data, text, failure, code, _first_lines(said), cut)


def _failure(text: str) -> Failure:
    found: Failure | None = next((failure for failure, pattern in _FAILURES if pattern.search(text)), None)
    return found or "error"


def _first_lines(text: str) -> str:
    """Return a failure's first line: the second is for models that correct their arguments, then comes JSON."""
    return text.split("\n", 1)[0].strip()[:600]


def _split(whole: str) -> tuple[str, Mapping[str, Any], bool]:
    """Return the sentence, the last JSON object that ends the text, and whether it was cut."""
    noted = _NOTE.sub("", whole)
    for opening in _openings(noted):
        try:
            value, end = _DECODER.raw_decode(noted, opening)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, Mapping) and not noted[end:].strip():
            return noted[:opening].strip(), cast("Mapping[str, Any]", value), False
    return _salvaged(noted, was_cut=noted != whole)


def _openings(text: str) -> list[int]:
    starts = [match.end() - 1 for match in _OPENING.finditer(text)][:MOST_OPENINGS]
    first = text.find("{")
    return starts if first < 0 or first in starts else [*starts, first]


def _salvaged(text: str, *, was_cut: bool) -> tuple[str, Mapping[str, Any], bool]:
    """Keep the whole entries of a list that was cut in its middle, and the items of a tree."""
    opening = next(iter(_openings(text)), -1)
    if not was_cut or opening < 0:
        return text.strip(), {}, was_cut
    body = text[opening:]
    name, start = next(
        ((name, start) for name, start in _STARTS.items() if body.startswith(f'{{"{name}":[')),
        ("items", _STARTS["items"]),
    )
    return text[:opening].strip(), {name: list(_whole_objects(body, start))}, True


def _whole_objects(text: str, start: str) -> Iterator[Any]:
    """Yield the objects that begin like this; inside a string of JSON every quotation mark is escaped."""
    at = text.find(start)
    while at >= 0:
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield value
        at = text.find(start, at)
