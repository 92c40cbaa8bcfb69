"""The tagged sections of a system message, read back into data."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from graph.prompts import TAGS
from graph.state import Language

Data = Mapping[str, Any]
_SECTION: Final = re.compile(rf"^<(?P<tag>{'|'.join(TAGS)})>\n(?P<body>.*?)\n</(?P=tag)>$", re.MULTILINE | re.DOTALL)
_HIDDEN_TAG: Final = re.compile(rf"&lt;(?=\s*/?\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)
_CUT: Final = re.compile(r"\n\[Cut: \d+ of \d+ characters\.[^\n]*\]$")


@dataclass(frozen=True, slots=True)
class Sections:
    """What the system message tells beside its prompt. Items are dicts with `id` and `name` and maybe more."""

    file: Data | None = None
    folder: Data | None = None
    document: str | None = None
    document_is_exact: bool = False
    listing: tuple[Data, ...] = ()
    step: Data = field(default_factory=dict[str, Any])
    earlier_results: tuple[Data, ...] = ()
    plan_so_far: tuple[Data, ...] = ()
    last_run: str = ""
    last_agent: str = ""
    conversation: str = ""
    language: Language | None = None


def read_sections(system: str) -> Sections:
    """Return the sections of a system message. Tags inside a section are its text, not sections."""
    found = {match["tag"]: match["body"] for match in _SECTION.finditer(system)}
    place = _mapping(_json(found, "place"))
    raw, language, folder = found.get("document"), found.get("language", "").strip(), _item(place.get("folder"))
    document = _CUT.sub("", _HIDDEN_TAG.sub("<", raw)) if raw is not None else None
    above = str(folder.get("path") or "").rstrip("/") if folder else ""
    parent = {"parent_id": folder["id"]} if folder else {}
    listing = [item for entry in _mappings(_json(found, "listing")) if (item := _item(entry)) and "name" in item]
    return Sections(
        file=_item(place.get("file")),
        folder=folder,
        document=document,
        document_is_exact=document is not None and document == raw,
        listing=tuple({**parent, "path": f"{above}/{item['name']}", **item} for item in listing),
        step=_mapping(_json(found, "step")),
        earlier_results=_mappings(_json(found, "earlier_results")),
        plan_so_far=_mappings(_json(found, "plan_so_far")),
        last_run=found.get("last_run", "").strip(),
        last_agent=found.get("last_agent", "").strip(),
        conversation=found.get("conversation", ""),
        language=cast("Language", language) if language in {"en", "zh"} else None,
    )


def _json(found: Mapping[str, str], tag: str) -> Any:
    try:
        return json.loads(found.get(tag) or "null")
    except (ValueError, RecursionError):
        return None


def _mapping(value: Any) -> Data:
    return cast("Data", value) if isinstance(value, Mapping) else {}


def _mappings(value: Any) -> tuple[Data, ...]:
    return tuple(entry for entry in (value if isinstance(value, list) else []) if isinstance(entry, Mapping))


def _item(value: Any) -> Data | None:
    item = _mapping(value)
    return item if isinstance(item.get("id"), str) and item["id"] else None
