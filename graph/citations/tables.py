"""Numbers of tables in an answer: verified against the cells that the drive named, read or computed with."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, cast

from langchain_core.messages import AnyMessage, ToolMessage
from typing_extensions import TypedDict

from graph.citations.quotes import Quotation
from graph.citations.sources import is_table_answer
from graph.citations.verification import ask_drive
from graph.drive.connections import Toolbox
from graph.events.answers import CitationView

TABLE: Final = "table"
"""Key in the `additional_kwargs` of the answers of tables: the `TableSource`."""
_NUMBER: Final = re.compile(
    r"(?:[A-Z]{1,4}|人民币)?[^\w.,()-]*([-(]?)[^\w.,]*(\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\W*([^\W\d_]*)\W*"
)
"""A number with a sign or code of a currency before it, and one word behind it: its unit. More words say more."""
_SCALE: Final = re.compile(r"k|m|bn|mn|mio|hundred|dozen|thousand|[mb]illions?|[十百千万亿萬億].*", re.IGNORECASE)
"""Words behind a number that make another one of it."""


class TableSource(TypedDict):
    """The version of a file whose table answered; `uri` and `address` open its cells."""

    file_id: str
    name: str
    path: str
    version: int
    uri: str
    address: str


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """The answer of a table: each value with its cells."""

    source: TableSource
    values: Sequence[tuple[str, str]]

    def cells_of(self, quoted: str) -> str | None:
        """Return the cells of the value that is quoted, as the same words or the same number; None if none is."""
        return next((cells for value, cells in self.values if _is_same(quoted, value)), None)


def table_source_of(data: Mapping[str, Any] | None) -> TableSource | None:
    """Return where the result of a table is from, None for other results."""
    if data is None or not is_table_answer(data):
        return None
    file: Mapping[str, Any] = data["file"]
    return {
        "file_id": str(file.get("id", "")),
        "name": str(file.get("name") or ""),
        "path": str(file.get("path") or ""),
        "version": int(data.get("version") or 0),
        "uri": str(data.get("uri") or ""),
        "address": str(data.get("address") or ""),
    }


def table_results(messages: Iterable[AnyMessage]) -> list[ToolMessage]:
    """Return the answers of tables among the messages."""
    return [one for one in messages if isinstance(one, ToolMessage) and TABLE in one.additional_kwargs]


def table_answer(message: ToolMessage, text: str) -> TableAnswer | None:
    """Return the answer of a table by the text of its result; None for one that was cut."""
    try:
        data: Any = json.loads(text[text.index("\n{") + 1 :])
    except ValueError:
        return None
    rows = cast("list[Mapping[str, Any]]", data.get("rows") or [])
    values = [(str(value), ", ".join(row["cells"])) for row in rows for value in row["values"] if value is not None]
    return TableAnswer(message.additional_kwargs[TABLE], values)


async def verified_by_tables(
    views: Sequence[CitationView], quotations: Sequence[Quotation], answers: Sequence[TableAnswer], toolbox: Toolbox
) -> list[CitationView]:
    """Return the citations; a quotation that stands in no text is verified if a table answered it.

    The table that the answer names beside the quotation comes first. A file that the person can't see any more, or a
    version that is for editors now, verifies nothing.
    """
    found = [None if view["verified"] else _match(one, answers) for view, one in zip(views, quotations, strict=True)]
    sources = {(match[0]["file_id"], match[0]["version"]): match[0] for match in found if match}
    asked = [{"file_id": file_id, "version": version, "quote": TABLE} for file_id, version in sources]
    checks = dict(zip(sources, await ask_drive(toolbox, asked), strict=True)) if asked else {}
    return [
        _verified(view, *match, checks[match[0]["file_id"], match[0]["version"]]) if match else view
        for view, match in zip(views, found, strict=True)
    ]


def _match(one: Quotation, answers: Sequence[TableAnswer]) -> tuple[TableSource, str] | None:
    if not one.words:
        return None
    for answer in sorted(answers, key=lambda answer: not _is_named(one, answer.source)):
        cells = answer.cells_of(one.words)
        if cells is not None:
            return answer.source, cells
    return None


def _is_named(one: Quotation, source: TableSource) -> bool:
    return any(label and label in one.source for label in (source["path"], source["name"]))


def _verified(view: CitationView, source: TableSource, cells: str, check: Mapping[str, Any]) -> CitationView:
    if check["reason"] not in ("", "absent"):
        return view
    return {
        **view,
        "verified": True,
        "reason": "",
        "file_id": source["file_id"],
        "name": source["name"],
        "path": source["path"],
        "version": source["version"],
        "is_current": check.get("current_version") in (None, source["version"]),
        "place": cells,
        "heading": "",
        "uri": source["uri"],
        "address": source["address"],
    }


def _is_same(quoted: str, value: str) -> bool:
    if " ".join(quoted.split()) == " ".join(value.split()):
        return True
    number = _number_of(quoted)
    return number is not None and number == _number_of(value)


def _number_of(text: str) -> Decimal | None:
    """Return the number in a text that says nothing else, as answers write it: with a point, thousands by commas."""
    match = _NUMBER.fullmatch(unicodedata.normalize("NFKC", text).replace("−", "-").strip())
    if match is None or _SCALE.fullmatch(match[3]):
        return None
    value = Decimal(re.sub("[,' ]", "", match[2]))
    return -value if match[1] else value
