"""Pictures, equations, charts, embedded documents and the controls of forms in OpenDocument."""

import posixpath
import re
from collections.abc import Callable
from typing import Any, Final

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs

from drive_server.knowledge.readers.archive import Archive, resolve
from drive_server.knowledge.readers.office.markup.equations import MATHML, linear
from drive_server.knowledge.readers.office.markup.objects import alternative
from drive_server.knowledge.readers.office.markup.symbols import CHECKED
from drive_server.knowledge.readers.office.odf.names import DRAW, EXTENSION, FORM, ID, LINK, OFFICE, SVG, TEXT
from drive_server.knowledge.text.omissions import OmissionKind, Omissions

_OBJECT, _FOREIGN, _IMAGE = f"{DRAW}object", f"{DRAW}object-ole", f"{DRAW}image"
_MEDIA: Final = (f"{DRAW}plugin", f"{DRAW}applet", f"{DRAW}floating-frame")
_MATH = f"{MATHML}math"
_LENGTH = re.compile(r"([\d.]+)(cm|mm|in|pt|px)")
_MILLIMETRES: Final = {"cm": 10.0, "mm": 1.0, "in": 25.4, "pt": 0.353, "px": 0.265}
_SMALLEST_MILLIMETRES = 1.4
_MAX_DEPTH = 3
_VALUES: Final = (f"{FORM}current-value", f"{FORM}value")
_VALUED: Final = frozenset(
    f"{FORM}{name}"
    for name in ("text", "textarea", "formatted-text", "number", "date", "time", "combobox", "password", "file")
)
_LABELLED: Final = frozenset(f"{FORM}{name}" for name in ("button", "fixed-text", "frame"))


class Frames:
    """The frames of one document.

    `embedded` gets the bodies of charts and documents in frames, to be read after the paragraph. In heads and feet of
    pages (`is_margin`) pictures are decoration.
    """

    def __init__(
        self, archive: Archive, folder: str, forms: dict[str, Any], omissions: Omissions, *, is_margin: bool = False
    ) -> None:
        self._archive = archive
        self._folder = folder
        self._forms = forms
        self._omissions = omissions
        self._is_margin = is_margin
        self.embedded: list[tuple[str, Any]] = []

    def text(self, frame: Any) -> str:
        """Return the text that stands for a frame: an equation, or the words that describe a picture."""
        tags = {child.tag for child in frame}
        if _OBJECT in tags:
            return self._object(frame.find(_OBJECT))
        self._count("embedded", int(_FOREIGN in tags or not tags.isdisjoint(_MEDIA)))
        if _IMAGE not in tags or _FOREIGN in tags or self._is_margin:
            return ""
        if frame.get(f"{EXTENSION}decorative") == "true" or _is_small(frame):
            return ""
        words = frame.findtext(f"{SVG}desc") or frame.findtext(f"{SVG}title") or ""
        text = alternative(words)
        self._count("picture", int(not text))
        return f" [{text}] " if text else ""

    def _object(self, element: Any) -> str:
        math = element.find(_MATH)
        if math is not None:
            return linear(math)
        folder = resolve(self._folder, element.get(LINK, ""))
        name = self._archive.find(posixpath.join(folder, "content.xml"))
        if not name or folder.count("/") >= _MAX_DEPTH:
            self._count("embedded")
            return ""
        try:
            root = self._archive.xml(name)
        except etree.XMLSyntaxError:
            self._count("embedded")
            return ""
        if root.tag == _MATH:
            return linear(root)
        body = root.find(f"{OFFICE}body")
        if body is None:
            self._count("embedded")
        else:
            self.embedded.append((folder, body))
        return ""

    def _count(self, kind: OmissionKind, count: int = 1) -> None:
        self._omissions.add(kind, count)

    def control(self, element: Any) -> str:
        """Return the text that a control of a form shows; one without stored text is counted."""
        found = self._forms.get(element.get(f"{DRAW}control", ""))
        if found is None:
            return ""
        show = _SHOWN.get(found.tag)
        if show is None:
            self._count("form_field")
            return ""
        return f" {show(found)} "


def forms_in(root: Any) -> dict[str, Any]:
    """Return the controls of the forms of a document by their ids."""
    found = (one for forms in root.iter(f"{OFFICE}forms") for one in forms.iter() if isinstance(one.tag, str))
    return {key: one for one in found if (key := one.get(ID) or one.get(f"{FORM}id"))}


def _checked(element: Any) -> str:
    state = element.get(f"{FORM}current-state") or element.get(f"{FORM}state")
    return f"{CHECKED[state == 'checked']} {element.get(f'{FORM}label', '')}".strip()


def _chosen(element: Any) -> str:
    chosen = (element.get(f"{FORM}current-selected") or element.get(f"{FORM}selected")) == "true"
    return f"{CHECKED[chosen]} {element.get(f'{FORM}label', '')}".strip()


def _selected(element: Any) -> str:
    options = element.iter(f"{FORM}option")
    return ", ".join(
        one.get(f"{FORM}label", "")
        for one in options
        if (one.get(f"{FORM}current-selected") or one.get(f"{FORM}selected")) == "true"
    )


def _value(element: Any) -> str:
    paragraphs = "\n".join("".join(one.itertext()) for one in element.iter(f"{TEXT}p"))
    return paragraphs or next((value for name in _VALUES if (value := element.get(name))), "")


def _labelled(element: Any) -> str:
    return element.get(f"{FORM}label", "")


_SHOWN: Final[dict[str, Callable[[Any], str]]] = {
    f"{FORM}checkbox": _checked,
    f"{FORM}radio": _chosen,
    f"{FORM}listbox": _selected,
    **dict.fromkeys(_VALUED, _value),
    **dict.fromkeys(_LABELLED, _labelled),
}


def _is_small(frame: Any) -> bool:
    lengths = (_LENGTH.fullmatch(frame.get(f"{SVG}{side}", "")) for side in ("width", "height"))
    return any(one is not None and float(one[1]) * _MILLIMETRES[one[2]] < _SMALLEST_MILLIMETRES for one in lengths)
