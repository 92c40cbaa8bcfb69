"""Results of tools, read from the text that a thread has of them: a short sentence, then compact JSON."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard, cast

from langchain_core.messages import ToolMessage

from graph.messages.compact_results import data_of
from graph.messages.written import outcome_of, refusal_of

Item = Mapping[str, Any]
LEFT_OUT, CUT, IN_FULL, LONGEST_MESSAGE = "[Left out to save room", "\n[Cut: ", "in_full", 600
_CODE: Final = re.compile(r"^(?P<code>[a-z][a-z_]{2,40}): (?P<message>.+)", re.DOTALL)
_CURSOR: Final = re.compile(r"pass cursor (?P<cursor>\S+?)\.?(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Result:
    """One answer of a tool. `failure` is empty if it worked; `code` is the drive's word for what went wrong."""

    data: Item
    text: str
    failure: str = ""
    code: str = ""
    message: str = ""

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

    @property
    def files(self) -> list[Item]:
        """The items that a search found, each once."""
        return list({str(hit["file"]["id"]): hit["file"] for hit in self.hits}.values())

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
        """Say whether the result, or a part of it, was taken out of the conversation to save room."""
        return self.text.startswith(LEFT_OUT) or CUT in self.text or IN_FULL in self.data

    @property
    def cursor(self) -> str:
        """Return the cursor of the next page, empty at the end."""
        said = _CURSOR.search(self.text)
        return self.word("cursor") or (said["cursor"] if said else "")


def is_item(value: Any) -> TypeGuard[Item]:
    """Say whether a value is a file or a folder."""
    return isinstance(value, Mapping) and isinstance(value.get("id"), str) and value.get("kind") in {"file", "folder"}


def read_result(message: ToolMessage) -> Result:
    """Return what a tool message tells, whatever is missing in it."""
    data, coded = data_of(message.text) or {}, _CODE.match(message.text)
    text = message.text.partition("\n{" if data else "\0")[0]
    if message.status != "error" and not (isinstance(data.get("code"), str) and "message" in data and "id" not in data):
        return Result(data, text)
    outcome = refusal_of(message) or outcome_of(message)
    failure = "error" if data or outcome == "done" else outcome
    code = str(data.get("code") or (coded["code"] if coded else ""))
    said = str(data.get("message") or (coded["message"] if coded else text)).strip()
    return Result(data, text, failure, code, said.split("\n", 1)[0].strip()[:LONGEST_MESSAGE])
