"""The tagged sections of a system message, read back into data."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from graph.state import Language

TAGS: Final = (
    "place", "document", "related", "listing", "step", "earlier_results", "last_run", "last_agent", "conversation",
    "summary", "language", "plan_so_far", "memories",
)  # fmt: skip
_SECTION = re.compile(rf"^<(?P<tag>{'|'.join(TAGS)})>\n(?P<body>.*?)\n</(?P=tag)>$", re.MULTILINE | re.DOTALL)
_HIDDEN_TAG = re.compile(rf"&lt;(?=\s*/?\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)
_CUT = re.compile(r"\n\[Cut: \d+ of \d+ characters\.[^\n]*\]$")


@dataclass(frozen=True, slots=True)
class Sections:
    """What the system message tells beside its prompt. Items are dicts with `id` and `name` and maybe more.

    `document` is the open file's text, None if it is not told; `document_is_exact` says that it is whole and unescaped.
    """

    file: Mapping[str, Any] | None = None
    folder: Mapping[str, Any] | None = None
    document: str | None = None
    document_is_exact: bool = False
    listing: tuple[Mapping[str, Any], ...] = ()
    step: Mapping[str, Any] = field(default_factory=dict[str, Any])
    earlier_results: tuple[Mapping[str, Any], ...] = ()
    plan_so_far: tuple[Mapping[str, Any], ...] = ()
    memories: tuple[Mapping[str, Any], ...] = ()
    last_run: str = ""
    last_agent: str = ""
    conversation: str = ""
    language: Language | None = None

    @property
    def instruction(self) -> str:
        """What the running step of a plan asks for; empty without a plan."""
        return str(self.step.get("instruction") or self.step.get("title") or "")


def read_sections(system: str) -> Sections:
    """Return the sections of a system message. Tags inside a section are its text, not sections."""
    found = {match["tag"]: match["body"] for match in _SECTION.finditer(system)}
    place = _mapping(_json(found.get("place", "")))
    raw = found.get("document")
    document = _CUT.sub("", _HIDDEN_TAG.sub("<", raw)) if raw is not None else None
    language = found.get("language", "").strip()
    folder = _item(place.get("folder"))
    return Sections(
        file=_item(place.get("file")),
        folder=folder,
        document=document,
        document_is_exact=document is not None and document == raw,
        listing=_listed(_json(found.get("listing", "")), folder),
        step=_mapping(_json(found.get("step", ""))),
        earlier_results=tuple(_mappings(_json(found.get("earlier_results", "")))),
        plan_so_far=tuple(_mappings(_json(found.get("plan_so_far", "")))),
        memories=tuple(_mappings(_json(found.get("memories", "")))),
        last_run=found.get("last_run", "").strip(),
        last_agent=found.get("last_agent", "").strip(),
        conversation=found.get("conversation", ""),
        language=cast("Language", language) if language in {"en", "zh"} else None,
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    listed: Sequence[Any] = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, Any]", entry) for entry in listed if isinstance(entry, Mapping)]


def _item(value: Any) -> Mapping[str, Any] | None:
    item = _mapping(value)
    return item if isinstance(item.get("id"), str) and item["id"] else None


def _listed(value: Any, folder: Mapping[str, Any] | None) -> tuple[Mapping[str, Any], ...]:
    """Return the listing's items, with their place in the folder that is listed."""
    items = [item for entry in _mappings(value) if (item := _item(entry)) and isinstance(item.get("name"), str)]
    if folder is None:
        return tuple(items)
    above = str(folder.get("path") or "").rstrip("/")
    return tuple({"parent_id": folder["id"], "path": f"{above}/{item['name']}", **item} for item in items)
