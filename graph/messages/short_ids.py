"""Short ids for models: the first characters of an id, enough to tell it from all others of the view."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

ID: Final = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NAMED_ID: Final = re.compile(rf"(?<=\bid )(?:{ID.pattern})\b")
"""An id as the drive's sentences name it: `(file, id 9c23…, etag …)`."""
SHORTEST: Final = 6
ARGUMENT: Final = re.compile(r".*_ids?")
"""Arguments that hold ids. No other is touched: a text or a name may look like an id."""


class ShortIds:
    """The short ids of one view, given in its order. A model's calls are read back with them."""

    def __init__(self) -> None:
        self._short: dict[str, str] = {}
        self._full: dict[str, str] = {}

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

    def shorten(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call's arguments with short ids."""
        return {name: _mapped(name, value, self.short) for name, value in args.items()}

    def expand(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call's arguments with the ids that the short ones stand for."""
        return {name: _mapped(name, value, lambda one: self._full.get(one, one)) for name, value in args.items()}


def _mapped(name: str, value: Any, change: Any) -> Any:
    if not ARGUMENT.fullmatch(name):
        return value
    if isinstance(value, list):
        return [change(one) if isinstance(one, str) else one for one in cast("list[Any]", value)]
    return change(value) if isinstance(value, str) else value
