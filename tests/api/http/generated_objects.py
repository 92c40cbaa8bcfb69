"""hypothesis-jsonschema 0.23.1 (its last) draws objects by a method that Hypothesis has no more: here it is.

Later releases of Schemathesis do without that package, but not with the jsonschema-rs that langgraph-api needs.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hypothesis.internal.conjecture.utils import many
from hypothesis_jsonschema import (
    _from_schema,  # pyright: ignore[reportPrivateUsage] - nothing public reaches what it draws with
)

if TYPE_CHECKING:
    import pytest


class Elements(many):
    """What `while elements.more()` goes through."""

    _elements: Any = None

    def more(self) -> bool:
        """Return whether there is another element, which begins."""
        if self._elements is None:
            self.__enter__()
            self._elements = iter(self)
        if next(self._elements, self) is not self:
            return True
        self.__exit__(None)
        return False


def draw_objects(patch: pytest.MonkeyPatch) -> None:
    """Let hypothesis-jsonschema draw objects."""
    patch.setattr(_from_schema, "cu", SimpleNamespace(many=Elements))
