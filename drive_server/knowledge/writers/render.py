"""The media types of documents that are made of Markdown, and the function that makes each."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final, cast

_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
_WRITERS: Final[Mapping[str, str]] = {
    f"{_OFFICE}.wordprocessingml.document": "word:word_document",
    f"{_OFFICE}.spreadsheetml.sheet": "workbook:workbook_of",
}
MAX_RENDERED_CHARACTERS: Final = 500_000


QUICK_CHARACTERS: Final = 10_000
"""Up to this length a document takes a second at most."""


class UnwritableError(Exception):
    """The text does not fit into a document of this kind."""


def can_render(media_type: str) -> bool:
    """Say whether documents of this type are made of Markdown."""
    return media_type in _WRITERS


def render_document(media_type: str, text: str) -> bytes:
    """Return the document that the Markdown text makes; the same for the same text. Blocks, maybe for seconds.

    Raises `UnwritableError` for a text that does not fit.
    """
    if len(text) > MAX_RENDERED_CHARACTERS:
        raise UnwritableError
    module, _, function = _WRITERS[media_type].partition(":")
    write = getattr(
        import_module(f"drive_server.knowledge.writers.{module}"), function
    )  # imported late: they take a while
    return cast("Callable[[str], bytes]", write)(text)


def render_work(text: str, path: Path, name: str, media_type: str) -> bytes | None:
    """Return the same as work of a reader's process, which reads no file; None for a text that does not fit."""
    del path, name
    try:
        return render_document(media_type, text)
    except UnwritableError:
        return None
