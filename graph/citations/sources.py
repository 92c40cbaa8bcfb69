"""The file versions that a model was shown, stored with each result for the life of the thread."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NotRequired, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from typing_extensions import TypedDict

SOURCES: Final = "sources"
"""Key in the `additional_kwargs` of the results of tools that search or read; an empty list: nothing was found."""
CONTEXT: Final = "context_sources"
"""Key in an answer's `additional_kwargs`: the versions whose words stood around the request, such as attachments."""
MAX_SOURCES: Final = 100
FOR_PEOPLE: Final = frozenset({"uri", "address", "missing"})
"""Fields beside a `file` that a model does not get."""


class Source(TypedDict):
    """A version of a file. `read`: words of it were shown, not only its name.

    `missing` names in each language the things that the drive could not read in the file, if there are any. `opened`:
    the text itself was read, or the table was asked; else a search showed passages.
    """

    file_id: str
    name: str
    path: str
    version: int | None
    read: bool
    missing: NotRequired[dict[str, str]]
    opened: NotRequired[bool]


def sources_of(data: Mapping[str, Any] | None) -> list[Source] | None:
    """Return the files that a result shows, each version once; None for a result about something else."""
    entries = _entries(data or {})
    if entries is None:
        return None
    opened = isinstance((data or {}).get("file"), Mapping)
    return merge_sources(_source(entry, opened=opened) for entry in entries)[:MAX_SOURCES]


def merge_sources(sources: Iterable[Source]) -> list[Source]:
    """Return each version once, in order."""
    found: dict[tuple[str, int | None], Source] = {}
    for source in sources:
        source_read = found.setdefault((source["file_id"], source["version"]), source)
        source_read["read"] = source_read["read"] or source["read"]
        if missing := source.get("missing"):
            source_read["missing"] = missing
            source_read["opened"] = source_read.get("opened", False) or source.get("opened", False)
    return list(found.values())


def with_context(answer: AIMessage, sources: Iterable[Source]) -> AIMessage:
    """Return an answer that calls no tools with the versions that stood around the request."""
    seen = [] if answer.tool_calls else merge_sources({**source} for source in sources if source["read"])[:MAX_SOURCES]
    if not seen:
        return answer
    return answer.model_copy(update={"additional_kwargs": {**answer.additional_kwargs, CONTEXT: seen}})


def without_addresses(data: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the data as a model gets it: without derived fields that are for people, such as long addresses."""
    if data is None:
        return None
    shown = {key: value for key, value in data.items() if key not in FOR_PEOPLE or "file" not in data}
    if isinstance(shown.get("hits"), list):
        hits = cast("list[Any]", shown["hits"])
        shown["hits"] = [without_addresses(hit) if isinstance(hit, Mapping) else hit for hit in hits]
    return shown


def sources_in(messages: Sequence[AnyMessage]) -> Iterator[list[Source]]:
    """Yield the sources of each search and reading among the messages, the newest first."""
    for message in reversed(messages):
        if isinstance(message, ToolMessage) and SOURCES in message.additional_kwargs:
            yield message.additional_kwargs[SOURCES]


def context_in(messages: Sequence[AnyMessage]) -> list[Source]:
    """Return the versions that stood around the requests of these messages, the newest first."""
    answers = (message for message in reversed(messages) if isinstance(message, AIMessage))
    return [source for answer in answers for source in answer.additional_kwargs.get(CONTEXT, ())]


def _entries(data: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Return the entries about one file each: hits of a search, a text that was read, findings of a bulk reading."""
    if isinstance(data.get("hits"), list):
        return [hit for hit in data["hits"] if isinstance(hit.get("file"), Mapping)]
    if isinstance(data.get("text"), str) and isinstance(data.get("file"), Mapping):
        return [data]
    if isinstance(data.get("diff"), str) and isinstance(data.get("other"), Mapping):
        other = {"file": data["other"], "version": data.get("other_version"), "text": data["diff"]}
        return [{**data, "text": data["diff"]}, other]
    if is_table_answer(data):
        return [{**data, "text": "cells"}]
    if isinstance(data.get("results"), list) and "coverage" in data:
        return [_as_hit(finding) for finding in data["results"] if finding.get("file_id")]
    return None


def is_table_answer(data: Mapping[str, Any]) -> bool:
    """Say whether a result is the answer of a table: values with the cells that they are from."""
    return all(isinstance(data.get(key), list) for key in ("rows", "result_columns", "cells")) and "file" in data


def _as_hit(finding: Mapping[str, Any]) -> Mapping[str, Any]:
    path = str(finding.get("path", ""))
    file = {"id": finding["file_id"], "name": path.rpartition("/")[2], "path": path}
    text = finding.get("answer") or finding.get("quote")
    return {"file": file, "version": finding.get("version"), "text": text, "missing": finding.get("missing")}


def _source(entry: Mapping[str, Any], *, opened: bool) -> Source:
    file: Mapping[str, Any] = entry["file"]
    text, name = str(entry.get("text") or ""), str(file.get("name") or "")
    source: Source = {
        "file_id": str(file.get("id", "")),
        "name": name,
        "path": str(file.get("path") or ""),
        "version": entry.get("version") or file.get("version"),
        "read": bool(text) and text != name,
    }
    if isinstance(missing := entry.get("missing"), Mapping):
        words = cast("Mapping[str, Any]", missing)
        source["missing"], source["opened"] = {language: str(text) for language, text in words.items()}, opened
    return source
