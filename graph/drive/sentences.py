"""The drive's sentences in the person's language, and changes of one kind grouped.

An object of the drive has its sentences in English, and in `messages` the code, the parameters and the Chinese text of
each field. The drive's catalogue is the only one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from drive_server.kernel.texts import Texts
from graph.language import Language, join_names

MAX_NAMES: Final = 5
MESSAGES: Final = "messages"
TEXTS: Final = Texts.beside(__file__)


class RecordedChange(Protocol):
    """A change as the journal has it."""

    @property
    def id(self) -> int:
        """Its number."""
        ...

    @property
    def action(self) -> str:
        """The kind of change."""
        ...

    @property
    def summary(self) -> str:
        """The journal's sentence, in English."""
        ...

    @property
    def messages(self) -> Mapping[str, Any]:
        """The sentence's code and parameters, and its Chinese text."""
        ...

    @property
    def undone_by(self) -> int | None:
        """The change that took it back."""
        ...


@dataclass(frozen=True, slots=True)
class Group:
    """The changes of one kind: their numbers, how many of them were taken back since, and a sentence for all."""

    action: str
    count: int
    undone: int
    text: str
    change_ids: tuple[int, ...]


def text(entry: Mapping[str, Any], field: str, language: Language) -> str:
    """Return a sentence of the drive's in the language; one that has no translation is in English."""
    english = entry.get(field) or ""
    found = (entry.get(MESSAGES) or {}).get(field) or {}
    return str(found.get(language) or english)


def localize(data: Mapping[str, Any] | None, language: Language) -> dict[str, Any] | None:
    """Return structured content with its sentences in the language, also those of the entries of its lists."""
    if data is None:
        return None
    return {
        key: [_localized(entry, language) for entry in cast("list[Any]", value)] if isinstance(value, list) else value
        for key, value in _localized(data, language).items()
    }


def error_sentence(data: Mapping[str, Any], english: str, language: Language) -> str:
    """Return a refusal as `code: sentence hint`; in Chinese, a second line may have the particular sentence."""
    if language == "en" or MESSAGES not in data:
        return english
    said = f"{data['code']}: {text(data, 'message', language)}"
    if "hint" in data[MESSAGES]:
        return f"{said}{text(data, 'hint', language)}"
    is_general = str(data[MESSAGES]["message"]["code"]).startswith("error.")
    return f"{said}\n{data['message']} {data['hint']}".rstrip() if is_general else said


def sentence(change: RecordedChange, language: Language) -> str:
    """Return the sentence about a change; an old one is in English in every language."""
    return text({"summary": change.summary, MESSAGES: change.messages}, "summary", language)


def grouped(changes: Iterable[RecordedChange], language: Language) -> list[Group]:
    """Return the changes by kind, in the order in which the first of each was made."""
    kinds: dict[str, list[RecordedChange]] = {}
    for change in changes:
        kinds.setdefault(change.action, []).append(change)
    return [_group(action, of_kind, language) for action, of_kind in kinds.items()]


def _localized(entry: Any, language: Language) -> Any:
    if not isinstance(entry, Mapping) or MESSAGES not in entry:
        return entry
    fields = cast("Mapping[str, Any]", entry)
    texts = {field: text(fields, field, language) for field in fields[MESSAGES]}
    return {key: value for key, value in {**fields, **texts}.items() if key != MESSAGES}


def _group(action: str, changes: Sequence[RecordedChange], language: Language) -> Group:
    undone = sum(change.undone_by is not None for change in changes)
    ids = tuple(change.id for change in changes)
    return Group(action, len(changes), undone, _text_of_group(action, changes, language), ids)


def _text_of_group(action: str, changes: Sequence[RecordedChange], language: Language) -> str:
    if len(changes) == 1:
        return sentence(changes[0], language)
    names = list(dict.fromkeys(name for name in map(_name, changes) if name))
    code = f"changes.{action}"
    said = TEXTS.say(code if code in TEXTS else "changes.other", language, count=len(changes))
    if not names:
        return TEXTS.say("changes.unnamed", language, sentence=said)
    listed = join_names((TEXTS.say("changes.name", language, name=name) for name in names[:MAX_NAMES]), language)
    form = "changes.named_and_more" if len(names) > MAX_NAMES else "changes.named"
    return TEXTS.say(form, language, sentence=said, names=listed)


def _name(change: RecordedChange) -> str:
    params = (change.messages.get("summary") or {}).get("params", {})
    return str(params.get("item", {}).get("params", {}).get("name", ""))
