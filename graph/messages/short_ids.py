"""Short ids for models: the first characters of an id, enough to tell it from all others of the view."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, cast

ID: Final = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NAMED_ID: Final = re.compile(rf"(?<=\bid )(?:{ID.pattern})\b")
"""An id as the drive's sentences name it: `(file, id 9c23…, etag …)`."""
SHORTEST: Final = 6
SHORT: Final = re.compile(rf"[0-9a-f]{{{SHORTEST},31}}")
ARGUMENT: Final = re.compile(r".*_ids?")
"""Arguments that hold ids. No other is touched: a text or a name may look like an id."""


class ShortIds:
    """The short ids of one view, given in its order. A model's calls are read back with them."""

    def __init__(self) -> None:
        self._short: dict[str, str] = {}
        self._full: dict[str, str] = {}

    @property
    def given(self) -> tuple[tuple[str, str], ...]:
        """The ids that were given a short one, with it, in their order."""
        return tuple(self._short.items())

    def short(self, value: str) -> str:
        """Return the short form of an id; anything else as it is."""
        if value not in self._short and ID.fullmatch(value):
            length = SHORTEST
            while value[:length] in self._full:
                length += 1
            self._short[value] = value[:length]
            self._full[value[:length]] = value
        return self._short.get(value, value)

    def in_sentence(self, sentence: str) -> str:
        """Return a sentence of the drive with its ids short."""
        return NAMED_ID.sub(lambda found: self.short(found[0]), sentence)

    def whole(self, value: str) -> str:
        """Return the id that a short one stands for; anything else as it is."""
        return self._full.get(value, value)

    def shorten(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call's arguments with short ids."""
        return {name: _mapped(name, value, self.short) for name, value in args.items()}

    def expand(self, args: Mapping[str, Any], elsewhere: Iterable[str] = ()) -> dict[str, Any]:
        """Return a call's arguments with the ids that the short ones stand for.

        One that the view does not have is looked up in the texts `elsewhere`, where it has to fit a single id.
        """
        return {name: _mapped(name, value, partial(self._whole, elsewhere)) for name, value in args.items()}

    def _whole(self, elsewhere: Iterable[str], value: str) -> str:
        if value in self._full or not SHORT.fullmatch(value):
            return self._full.get(value, value)
        longer = re.compile(rf"\b(?={value})(?:{ID.pattern})\b")
        found = {one for text in elsewhere for one in longer.findall(text)}
        return found.pop() if len(found) == 1 else value


def _mapped(name: str, value: Any, change: Callable[[str], str]) -> Any:
    """Return an argument with its ids changed: itself, those in a list, and those of entries such as new names."""
    if isinstance(value, list):
        return [_mapped(name, one, change) for one in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        return {key: _mapped(key, one, change) for key, one in cast("Mapping[str, Any]", value).items()}
    if not isinstance(value, str) or not ARGUMENT.fullmatch(name):
        return value
    listed = _listed(value)
    return change(value) if listed is None else _mapped(name, listed, change)


def _listed(value: str) -> list[Any] | None:
    """Return the list that a model wrote as text."""
    try:
        found = json.loads(value) if value.startswith("[") else None
    except (ValueError, RecursionError):
        return None
    return cast("list[Any]", found) if isinstance(found, list) else None
