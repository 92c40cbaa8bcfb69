"""Placeholders `{{name}}` in the text of a template, and in the paragraphs of a Word document."""

import io
import re
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs

from drive_server.kernel.errors import InvalidInputError, TooLargeError
from drive_server.kernel.messages import Message
from drive_server.knowledge.readers.archive import Archive
from drive_server.knowledge.writers.package import EPOCH
from drive_server.knowledge.writers.render import MAX_RENDERED_CHARACTERS

_PLACEHOLDER: Final = re.compile(r"\{\{[ \t]*([^{}\r\n]{1,100}?)[ \t]*\}\}")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_PARTS: Final = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml")
_SPACE: Final = "{http://www.w3.org/XML/1998/namespace}space"


def fill_text(text: str, values: Mapping[str, str], limit: int) -> str:
    """Return the text with every placeholder filled.

    Raises `InvalidInputError` unless names and values agree, and `TooLargeError` for more characters than `limit`.
    """
    filling = Filling(_PLACEHOLDER.findall(text), values)
    if filling.length > limit:
        raise TooLargeError(Message.of("text_too_large"), details={"limit": limit})
    return _PLACEHOLDER.sub(lambda match: filling.value(match[1]), text)


def fill_docx(data: bytes, values: Mapping[str, str]) -> bytes:
    """Return the Word document with every placeholder filled, also one that is split into runs. Blocks.

    Raises as `fill_text` does, and the errors of zipfile and lxml for damaged files.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        archive = Archive(source)
        roots = {name: archive.xml(name) for name in sorted(filter(_PARTS.fullmatch, archive.names))}
        paragraphs = [words for root in roots.values() for words in _paragraphs(root)]
        filling = Filling(_names(paragraphs), values)
        if filling.length > MAX_RENDERED_CHARACTERS:
            raise TooLargeError(Message.of("document_too_large", limit=MAX_RENDERED_CHARACTERS))
        for words in paragraphs:
            _fill_paragraph(words, filling)
        return _packed(source, archive, roots)


class Filling:
    """Values for the placeholders of one template; upper and lower case are the same.

    `length` is the number of characters that come for all of them.
    """

    def __init__(self, names: Sequence[str], values: Mapping[str, str]) -> None:
        self._values = {name.strip().casefold(): value for name, value in values.items()}
        wanted = {name.casefold(): name for name in names}
        missing = [name for key, name in wanted.items() if key not in self._values]
        unknown = [name for name in values if name.strip().casefold() not in wanted]
        if not wanted:
            raise InvalidInputError(Message.of("no_placeholders"))
        if missing or unknown:
            raise _disagreement(missing, unknown, list(wanted.values()))
        if bad := [name for name, value in values.items() if _CONTROL.search(value)]:
            raise InvalidInputError(Message.of("value_control", name=bad[0]))
        self.length = sum(len(self.value(name)) for name in names)

    def value(self, name: str) -> str:
        """Return the value of the placeholder."""
        return self._values[name.casefold()]


def _disagreement(missing: Sequence[str], unknown: Sequence[str], wanted: Sequence[str]) -> InvalidInputError:
    parts = [
        *([Message.of("values_missing", names=", ".join(missing))] if missing else []),
        *([Message.of("values_unknown", names=", ".join(unknown))] if unknown else []),
    ]
    return InvalidInputError(
        Message.of("template_values", problems=Message.joined("semicolons", parts), names=", ".join(wanted)),
        details={"missing": [*missing], "unknown": [*unknown], "placeholders": [*wanted]},
    )


def _paragraphs(root: Any) -> Iterator[list[Any]]:
    """Yield the texts of each paragraph, without those of paragraphs in it (text boxes)."""
    owners: dict[Any, list[Any]] = {}
    for words in root.iter("{*}t"):
        owner = next(words.iterancestors("{*}p"), None)
        if owner is not None:
            owners.setdefault(owner, []).append(words)
    yield from owners.values()


def _text_of(words: Sequence[Any]) -> str:
    return "".join(part.text or "" for part in words)


def _names(paragraphs: Sequence[Sequence[Any]]) -> list[str]:
    return [name for words in paragraphs for name in _PLACEHOLDER.findall(_text_of(words))]


def _fill_paragraph(words: Sequence[Any], filling: Filling) -> None:
    """Put each value where its placeholder begins, in the formatting of that place."""
    matches = deque(_PLACEHOLDER.finditer(_text_of(words)))
    start = 0
    for part in words:
        text: str = part.text or ""
        pieces: list[str] = []
        at, end = start, start + len(text)
        while matches and matches[0].start() < end:
            match = matches[0]
            if match.start() >= start:
                pieces += [text[at - start : match.start() - start], filling.value(match[1])]
            at = min(match.end(), end)
            if match.end() > end:
                break
            matches.popleft()
        if at > start:
            part.text = "".join([*pieces, text[at - start :]])
            part.set(_SPACE, "preserve")
            _break_lines(part)
        start = end


def _break_lines(part: Any) -> None:
    """Turn the line breaks of a value into those of a document."""
    first, *rest = (part.text or "").replace("\r\n", "\n").split("\n")
    part.text = first
    last = part
    for line in rest:
        pause = etree.Element(part.tag[: -len("t")] + "br")
        following = deepcopy(part)
        following.text = line
        last.addnext(pause)
        pause.addnext(following)
        last = following


def _packed(source: zipfile.ZipFile, archive: Archive, roots: Mapping[str, Any]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            root = roots.get(entry.filename)
            content = archive.read(entry.filename) if root is None else _serialized(root)
            target.writestr(zipfile.ZipInfo(entry.filename, EPOCH), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _serialized(root: Any) -> bytes:
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
