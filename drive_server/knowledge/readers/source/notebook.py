"""The text of Jupyter notebooks (nbformat 3 and 4): prose, code and its output, without pictures and widgets."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from drive_server.knowledge.readers.source.markdown import markdown_elements
from drive_server.knowledge.text.decode import decode_file
from drive_server.knowledge.text.elements import Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.unreadable import UnreadableError

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_DATA_URI = re.compile(r"data:[\w/+.-]+;base64,[A-Za-z0-9+/=\s]{40,}")
_DRAWN = re.compile(r"<[\w. ]*(?:Figure|Axes|Image|Audio|Video)\b[^>]*>")
_Json = Mapping[str, Any]


def notebook_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the cells of a notebook in order. Blocks. Raises `UnreadableError` for one that is not such JSON."""
    decoded = decode_file(path)
    try:
        notebook = json.loads(decoded.text) if decoded else None
    except (ValueError, RecursionError):
        notebook = None
    if not isinstance(notebook, dict):
        raise UnreadableError("notebook")
    return join(part for cell in _cells(cast("_Json", notebook)) for part in _cell_parts(cell, omissions))


def _cells(notebook: _Json) -> Iterator[_Json]:
    """Yield the cells; before nbformat 4 they are in worksheets."""
    sheets = _list(notebook.get("worksheets"))
    for holder in (notebook, *sheets):
        yield from _list(holder.get("cells"))


def _cell_parts(cell: _Json, omissions: Omissions) -> Iterator[Part]:
    source = _words(cell.get("source", cell.get("input")), omissions)
    if cell.get("cell_type") == "code":
        yield Part("code", source.strip("\n"))
        for output in _list(cell.get("outputs")):
            yield Part("code", _output(output, omissions).strip("\n"))
        return
    omissions.add("picture", len(cell.get("attachments") or ()))
    if cell.get("cell_type") == "heading":
        yield Part("title", source.strip(), level=min(6, max(1, int(cell.get("level") or 1))))
        return
    for one in markdown_elements(source, len(source)):
        yield Part(one.kind, one.text, level=one.level)


def _output(output: _Json, omissions: Omissions) -> str:
    """Return the text of an output that a person sees; count the output if there is none."""
    if output.get("output_type") in ("stream", "pyout") and "text" in output:
        return _words(output["text"], omissions)
    if "ename" in output:
        return _words([f"{output['ename']}: ", output.get("evalue") or ""], omissions)
    shown = output.get("data") if isinstance(output.get("data"), dict) else output
    data = cast("_Json", shown)
    words = _words(data.get("text/markdown") or data.get("text/plain") or data.get("text/latex"), omissions)
    if any(kind.startswith("image/") or kind in ("png", "jpeg", "svg") for kind in data):
        omissions.add("picture")
        return _DRAWN.sub("", words)
    if not words.strip() and data:
        omissions.add("embedded")
    return words


def _words(source: Any, omissions: Omissions) -> str:
    """Return a text that is one string or a list of lines, without the bytes of pictures."""
    lines = cast("Sequence[Any]", source) if isinstance(source, list) else [source or ""]
    text = _ANSI.sub("", "".join(one for one in lines if isinstance(one, str)))
    words, pictures = _DATA_URI.subn("", text)
    omissions.add("picture", pictures)
    return words


def _list(value: Any) -> list[_Json]:
    found = cast("list[Any]", value) if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]
