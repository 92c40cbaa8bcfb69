"""What one utterance has to be understood as."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """An utterance, the kinds of intent in it, in order, and fields of the last one (as their compact text)."""

    text: str
    kinds: tuple[str, ...]
    file_open: bool = False
    fields: dict[str, Any] = field(default_factory=dict[str, Any])


def said(text: str, *kinds: str, file_open: bool = False, **fields: Any) -> Case:
    """Write a case in one line."""
    return Case(text, kinds, file_open, fields)
