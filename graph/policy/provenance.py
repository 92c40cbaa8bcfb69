"""The provenance of a result's words: the person's own, imported, shared by others, or from outside. Pure.

The drive tells whose a file is, not who wrote its content: an upload may come from anywhere. A file is the person's
own words only if the assistant wrote this very version for them, in a thread that had read nothing else
(`graph.agents.authorship` has the list). All else is foreign.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from graph.policy.tools import ToolFacts
from graph.state import Origin, Taint

FOREIGN: Final = "foreign"
"""Key in a result's `additional_kwargs`: the `Taint` of each file in it whose content is not the person's own."""
MAX_FOREIGN: Final = 20
NAME_WORDS: Final = 6
NAME_CHARACTERS: Final = 60

OwnVersions = Mapping[str, int]
"""The version of each file, by id, that has only the person's own words."""

_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+\.\w+|https?:|www\.", re.IGNORECASE)
_ORDER: Final = re.compile(
    r"\b(?:ignore|disregard|instructions?|system|assistant|prompt|you (?:must|should)|please|delete|trash|remove|share"
    r"|send|forward|upload|e-?mail|execute|call|approve)\b|忽略|无视|指令|提示|系统|助手|请|删除|分享|共享|发送|转发|批准|执行",
    re.IGNORECASE,
)
_HAN: Final = re.compile(r"[\u3400-\u9fff]")


Named = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Read:
    """Words of a file that came to the model. `owner` is an email, empty if unknown, as is a `version` of 0."""

    file_id: str
    name: str
    path: str
    owner: str = ""
    version: int = 0


def reads_in(tool: ToolFacts, data: Mapping[str, Any] | None, named: Named | None = ()) -> list[Read]:
    """Return the files of which a tool's result, or its error, holds words that may be of others.

    `named` are the items in it that somebody else named, as the drive states them. A result without a rule is from
    outside, and so is one without a statement of who named its items (None).
    """
    if tool.rule is None or named is None:
        return [Read("", tool.name, "")]
    shown = data or {}
    found = dict.fromkeys([*map(_of_name, named), *_contents(shown), *_instructive_names(shown)])
    return [*found]


def _of_name(item: Mapping[str, Any]) -> Read:
    """A name is shared by the person who gave it, and from outside if nobody known did."""
    by = str(item.get("by") or "")
    key = str(item.get("id") or by) if by else ""
    return Read(key, str(item.get("name") or by), "", by)


def foreign(reads: Iterable[Read], email: str, own: OwnVersions) -> list[Taint]:
    """Return those that are not the person's own words, each file once, 20 at most."""
    found = {
        (read.file_id or read.path or read.name): taint
        for read in reads
        if (taint := _taint(read, email, own))["origin"] != "own"
    }
    return [*found.values()][:MAX_FOREIGN]


def _taint(read: Read, email: str, own: OwnVersions) -> Taint:
    return {"file_id": read.file_id, "name": read.name, "path": read.path, "origin": origin_of(read, email, own)}


def origin_of(read: Read, email: str, own: OwnVersions) -> Origin:
    """Return the origin of the words; the person's file is imported unless this version is recorded as own."""
    if not read.file_id:
        return "outside"
    if read.owner.casefold() != email.casefold() and read.owner:
        return "shared"
    return "own" if read.version and own.get(read.file_id) == read.version else "imported"


def could_instruct(name: str) -> bool:
    """Say whether a name is more than a name: it has an address in it, or is a whole sentence that orders things."""
    if _ADDRESS.search(name):
        return True
    said = re.sub(r"[\s_\-.,]+", " ", name)
    words = said.count(" ") + 1 + len(_HAN.findall(said)) // 2
    return (words >= NAME_WORDS or len(said) >= NAME_CHARACTERS) and _ORDER.search(said) is not None


def _contents(data: Mapping[str, Any]) -> Iterator[Read]:
    file = data.get("file")
    if isinstance(file, Mapping) and any(data.get(key) for key in ("text", "diff", "columns")):
        yield _of_item(cast("Mapping[str, Any]", file), data.get("version"))
    other = data.get("other")
    if isinstance(other, Mapping) and data.get("diff"):
        yield _of_item(cast("Mapping[str, Any]", other), data.get("other_version"))
    for hit in _listed(data, "hits"):
        found = hit.get("file")
        if isinstance(found, Mapping) and hit.get("text") and hit["text"] != found.get("name"):
            yield _of_item(cast("Mapping[str, Any]", found), hit.get("version"))
    for finding in _listed(data, "results"):
        if finding.get("answer") or finding.get("quote"):
            path = str(finding.get("path", ""))
            yield Read(str(finding.get("file_id") or path), path.rpartition("/")[2], path)
    yield from _in_errors(data.get("details"))
    if "coverage" in data and data.get("text"):
        yield Read("many", "", "")


def _in_errors(details: Any) -> Iterator[Read]:
    """Errors about edits show lines of a text, those about tables its cells and the names of its columns."""
    if not isinstance(details, Mapping):
        return
    shown = cast("Mapping[str, Any]", details)
    if shown.get("candidates"):
        yield Read("near matches", "", "")
    if isinstance(shown.get("table"), Mapping):
        yield _of_item(shown["table"], shown.get("version"))


def _instructive_names(data: Mapping[str, Any]) -> Iterator[Read]:
    for item in _items(data):
        if could_instruct(str(item.get("name", ""))):
            yield _of_item(item, None)


def _items(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield all items of a result, at any depth: lists, trees, hits, shares of items."""
    pending: list[Any] = [data]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            item = cast("Mapping[str, Any]", value)
            if "name" in item and "id" in item:
                yield item
            pending += item.values()
        elif isinstance(value, list):
            pending += cast("list[Any]", value)


def _of_item(item: Mapping[str, Any], version: Any) -> Read:
    """A name has no version: nobody notes who gave it."""
    number = version if isinstance(version, int) else 0
    texts = [str(item.get(key) or "") for key in ("id", "name", "path", "owner")]
    return Read(texts[0], texts[1], texts[2], texts[3], number)


def _listed(data: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    value = data.get(key)
    entries = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, Any]", entry) for entry in entries if isinstance(entry, Mapping)]
