"""The media types of documents that are made of Markdown, and the function that makes each."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, cast

_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
_WRITERS: Final[Mapping[str, str]] = {
    f"{_OFFICE}.wordprocessingml.document": "word:word_document",
    f"{_OFFICE}.spreadsheetml.sheet": "workbook:workbook_of",
}
MAX_RENDERED_CHARACTERS: Final = 500_000


class UnwritableError(Exception):
    """The text does not fit into a document of this kind."""


def can_render(media_type: str) -> bool:
    """Say whether documents of this type are made of Markdown."""
    return media_type in _WRITERS


def render_document(media_type: str, text: str) -> bytes:
    """Return the document that the Markdown text makes; the same for the same text. Blocks, maybe for seconds.

    Raises `UnwritableError` for what does not fit.
    """
    if len(text) > MAX_RENDERED_CHARACTERS:
        raise UnwritableError
    module, _, function = _WRITERS[media_type].partition(":")
    write = getattr(
        import_module(f"drive_server.knowledge.writers.{module}"), function
    )  # imported late: they take a while
    return cast("Callable[[str], bytes]", write)(text)
