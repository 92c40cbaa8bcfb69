"""The common form of all results: a `Model` is on the wire as it is; a page is a part of a list."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")


class Model(BaseModel):
    """A value that tools and routes answer with. Times are ISO 8601 in UTC there, sizes in bytes."""

    model_config = ConfigDict(frozen=True)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list. `cursor` is opaque and None at the end; `total` counts all where that is cheap.

    `note` is a sentence about possible gaps in the list, or empty.
    """

    items: tuple[T, ...]
    cursor: str | None = None
    total: int | None = None
    note: str = ""
