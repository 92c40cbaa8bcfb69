"""One row of the pattern tables."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """A pattern and what it means: the kind of intent, and fields that it implies beside its slots."""

    kind: str
    pattern: str
    fields: dict[str, Any] = field(default_factory=dict[str, Any])


def row(kind: str, *patterns: str, **fields: Any) -> tuple[Row, ...]:
    """Write several patterns of one meaning."""
    return tuple(Row(kind, pattern, fields) for pattern in patterns)
