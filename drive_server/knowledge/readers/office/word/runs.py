"""The words in a paragraph of Word: runs, symbols, equations, check boxes, fields' results, and texts for pictures."""

from collections.abc import Callable
from typing import Any, Final

from drive_server.knowledge.readers.office.markup.equations import EQUATION, EQUATION_PARAGRAPH, linear
from drive_server.knowledge.readers.office.markup.symbols import CHECKED, is_symbol_font, symbol, symbols
from drive_server.knowledge.readers.office.word.names import BOX, W, is_on, number, value
from drive_server.knowledge.readers.office.word.objects import Objects

_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_BLANKS: Final = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_SKIPPED: Final = (
    *(f"{W}{name}" for name in ("pPr", "rPr", "del", "moveFrom", "delText", "delInstrText", "sdtPr", "sdtEndPr")),
    BOX,
)
_UNCHECKED_VALUES: Final = ("0", "false", "off")
_FIRST_PRIVATE, _LAST_PRIVATE = "\uf000", "\uf0ff"
_Handler = Callable[["_Words", Any], str | None]


def words_of(element: Any, objects: Objects) -> str:
    """Return the words in an element, a line for each of its breaks and displayed equations."""
    return _Words(objects).text(element)


class _Words:
    """One paragraph while it is read. `_fields` has for each open field whether its result has begun."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._fields: list[bool] = []

    def text(self, element: Any) -> str:
        pieces: list[str] = []
        waiting = list(reversed(element))
        while waiting:
            one = waiting.pop()
            handler = _HANDLERS.get(one.tag)
            piece = handler(self, one) if handler else None
            if piece is None:
                waiting.extend(reversed(one))
            elif piece:
                pieces.append(piece)
        return "".join(pieces).strip()

    def letters(self, element: Any) -> str:
        """Return the letters of a run; those within the code of an outer field belong to the code."""
        text = element.text or ""
        if not text or (len(self._fields) > 1 and not all(self._fields[:-1])):
            return ""
        font = _font(element.getparent())
        if is_symbol_font(font):
            return symbols(font, text)
        if any(_FIRST_PRIVATE <= letter <= _LAST_PRIVATE for letter in text):
            return "".join(
                symbol("wingdings", ord(one)) or one if _FIRST_PRIVATE <= one <= _LAST_PRIVATE else one for one in text
            )
        return text

    def symbol(self, element: Any) -> str:
        """Return a symbol (section 17.3.3.30)."""
        try:
            return symbol(element.get(f"{W}font", ""), int(element.get(f"{W}char", ""), 16))
        except ValueError:
            return ""

    def equation(self, element: Any) -> str:
        """Return an equation, on lines of its own if it is displayed apart."""
        text = linear(element)
        if element.tag == EQUATION_PARAGRAPH:
            return f"\n{text}\n"
        return text

    def field(self, element: Any) -> str:
        """Follow the marks of a field, and return the text that a form's field shows in place of a result."""
        kind = element.get(f"{W}fldCharType", "")
        if kind == "begin":
            self._fields.append(False)
            return _form_value(element.find(f"{W}ffData"))
        if kind == "separate" and self._fields:
            self._fields[-1] = True
        elif kind == "end" and self._fields:
            self._fields.pop()
        return ""

    def code(self, element: Any) -> str:
        """Count an equation that a field's code draws: it has no result."""
        text = (element.text or "").split()
        self._objects.count("equation", int(text[:1] == ["EQ"]))
        return ""

    def control(self, element: Any) -> str | None:
        """Return the box of a content control that is one; any other one has its words in it."""
        box = element.find(f"{W}sdtPr/{_W14}checkbox")
        if box is None:
            return None
        mark = box.find(f"{_W14}checked")
        return CHECKED[mark is not None and mark.get(f"{_W14}val", "1") not in _UNCHECKED_VALUES]

    def ruby(self, element: Any) -> str:
        """Return words with their reading in parentheses (section 17.3.3.25)."""
        base, reading = (
            self.text(one) if one is not None else "" for one in map(element.find, (f"{W}rubyBase", f"{W}rt"))
        )
        return f"{base}({reading})" if reading else base

    def drawing(self, element: Any) -> str:
        """Return the text for a drawing."""
        return self._objects.drawing(element)

    def old_picture(self, element: Any) -> str:
        """Return the text for a picture of VML."""
        return self._objects.old_picture(element)

    def embedded(self, element: Any) -> str:
        """Read or count an embedded object."""
        return self._objects.embedded(element)


def _font(run: Any) -> str:
    fonts = None if run is None else run.find(f"{W}rPr/{W}rFonts")
    return "" if fonts is None else fonts.get(f"{W}ascii", "") or fonts.get(f"{W}hAnsi", "")


def _form_value(data: Any) -> str:
    """Return the text of a check box or a list of a form (sections 17.16.7 and 17.16.9)."""
    if data is None:
        return ""
    box, choices = data.find(f"{W}checkBox"), data.find(f"{W}ddList")
    if box is not None:
        checked = box.find(f"{W}checked")
        return CHECKED[is_on(box.find(f"{W}default") if checked is None else checked)]
    entries = [] if choices is None else [value(entry) for entry in choices.iterchildren(f"{W}listEntry")]
    chosen = 0 if choices is None else number(choices.find(f"{W}result"), number(choices.find(f"{W}default")))
    return entries[chosen] if 0 <= chosen < len(entries) else ""


_HANDLERS: Final[dict[str, _Handler]] = {
    **dict.fromkeys(_SKIPPED, lambda _words, _element: ""),
    **{tag: lambda _words, _element, blank=blank: blank for tag, blank in _BLANKS.items()},
    f"{W}t": _Words.letters,
    f"{W}sym": _Words.symbol,
    f"{W}fldChar": _Words.field,
    f"{W}instrText": _Words.code,
    f"{W}sdt": _Words.control,
    f"{W}ruby": _Words.ruby,
    f"{W}drawing": _Words.drawing,
    f"{W}pict": _Words.old_picture,
    f"{W}object": _Words.embedded,
    EQUATION: _Words.equation,
    EQUATION_PARAGRAPH: _Words.equation,
}
