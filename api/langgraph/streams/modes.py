"""The modes of a stream, in all the ways in which clients name them."""

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Literal, cast, get_args

Mode = Literal["values", "updates", "messages", "custom", "tasks", "checkpoints"]
MODES: Final[frozenset[Mode]] = frozenset(get_args(Mode))
ALIASES: Final = {"messages-tuple": "messages"}
UNTOLD: Final = frozenset({"events", "debug"})
"""Modes of LangGraph's server that tell of its own machinery: they may be asked for, and nothing comes."""


def read_modes(given: str | Iterable[str] | None, default: Iterable[Mode] = ()) -> frozenset[Mode] | None:
    """Return the modes; the default ones for none. None: one of them is unknown.

    A query repeats its parameter, or has all of them as a JSON array in one.
    """
    listed = [given] if isinstance(given, str) else [*(given or ())]
    names = [name for one in listed for name in _names(one)]
    modes = {ALIASES.get(name, name) for name in names}
    if not modes <= MODES | UNTOLD:
        return None
    return cast("frozenset[Mode]", frozenset(modes & MODES)) if modes else frozenset(default)


def _names(text: str) -> list[str]:
    if text.startswith("["):
        with suppress(ValueError):
            return [str(name) for name in json.loads(text)]
    return [text] if text else []
