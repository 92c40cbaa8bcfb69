"""Equations of Word (OMML; ECMA-376 part 1, section 22.1) and of MathML as linear text: `E = m c^2`, `(a+b)/(2 a)`."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MATHML: Final = "{http://www.w3.org/1998/Math/MathML}"
EQUATION: Final = f"{_M}oMath"
EQUATION_PARAGRAPH: Final = f"{_M}oMathPara"
_TEXTS = re.compile(r"\}(?:t|br)$")
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200b\u200c"))
_MATHEMATICAL = re.compile("[\U0001d400-\U0001d7ff]")
_ATOM = re.compile(r"(?:\d+(?:\.\d+)?|[^\W\d_]+)[\u0300-\u036f\u20d0-\u20ff′″]*|\W?")
_RELATION = re.compile(r"\s*(≠|≈|≤|≥|≡|→|⇒|⇔|[=<>])\s*")
_ACCENTS = {
    "\u0302": "hat",
    "\u0303": "tilde",
    "\u0304": "bar",
    "\u0305": "bar",
    "\u0307": "dot",
    "\u0308": "ddot",
    "\u20d7": "vec",
}
_SPACING_ACCENTS = {
    "^": "\u0302",
    "ˆ": "\u0302",
    "~": "\u0303",
    "˜": "\u0303",
    "¯": "\u0305",
    "‾": "\u0305",
    "→": "\u20d7",
}
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}


def linear(element: Any) -> str:
    """Return an equation as one line; an `m:oMathPara` as a line for each of its equations."""
    if element.tag == EQUATION_PARAGRAPH:
        return "\n".join(filter(None, (linear(one) for one in element.iterchildren(EQUATION))))
    return _spaced(_pieces(element))


def _spaced(text: str) -> str:
    """Set the relations that stand in no parentheses apart, so that their sides are words of their own."""
    pieces, depth, start = list[str](), 0, 0
    for match in re.finditer(r"[()\[\]{}]", text):
        if not depth:
            pieces.append(_RELATION.sub(r" \1 ", text[start : match.start()]))
            start = match.start()
        depth = max(0, depth + (1 if match[0] in "([{" else -1))
        if not depth:
            pieces.append(text[start : match.end()])
            start = match.end()
    pieces.append(text[start:] if depth else _RELATION.sub(r" \1 ", text[start:]))
    return " ".join("".join(pieces).split())


def _pieces(element: Any) -> str:
    return "" if element is None else _together(_piece(child) for child in element if isinstance(child.tag, str))


def _together(pieces: Iterable[tuple[str, bool]]) -> str:
    """Join neighbours, with a blank where a structure such as `c^2` would run into letters or digits."""
    text, structured = "", False
    for piece, is_structure in pieces:
        if not piece:
            continue
        meets = text.endswith(")") or text[-1:].isalnum(), piece[0].isalnum() or piece[0] in "√∛∜∑∏∫"
        text += f" {piece}" if all(meets) and (structured or is_structure) else piece
        structured = is_structure
    return text


def _piece(element: Any) -> tuple[str, bool]:
    """Return the text of an element, and whether it is a structure, whose parts belong together."""
    structure = _STRUCTURES.get(element.tag)
    if structure:
        return structure(element), True
    if element.tag in _SKIPPED:
        return "", False
    if element.tag in _LEAVES:
        return _plain(element), False
    return _pieces(element), False


def _plain(element: Any) -> str:
    if element.tag.startswith(MATHML):
        return _letters(" ".join("".join(element.itertext()).split()))
    texts = (one.text or "" if one.tag.endswith("}t") else " " for one in element.iter() if _is_text(one))
    return _letters("".join(texts))


def _is_text(element: Any) -> bool:
    return isinstance(element.tag, str) and _TEXTS.search(element.tag) is not None


def _letters(text: str) -> str:
    """Return plain letters for mathematical ones, so that they are found: E for 𝐸."""
    text = text.translate(_INVISIBLE)
    return _MATHEMATICAL.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def _grouped(text: str) -> str:
    """Put parentheses around more than one letter, number or sign."""
    return text if not text or _ATOM.fullmatch(text) else f"({text})"


def _fraction(above: str, below: str) -> str:
    return f"{_grouped(above)}/{_grouped(below)}"


def _script(base: str, below: str, above: str) -> str:
    below = f"_{_grouped(below)}" if below else ""
    above = above if above.strip("′″'") == "" else f"^{_grouped(above)}"
    return f"{_grouped(base)}{below}{above}"


def _root(degree: str, content: str) -> str:
    sign = _ROOTS.get(degree)
    return f"{sign}({content})" if sign else f"root({degree}, {content})"


def _operator(sign: str, below: str, above: str, content: str) -> str:
    limits = _script(sign, below, above) if sign else ""
    return f"{limits} {content}".strip()


def _accented(base: str, accent: str) -> str:
    accent = _SPACING_ACCENTS.get(accent, accent)
    if len(base) == 1 and unicodedata.combining(accent[:1] or " "):
        return base + accent
    return f"{_ACCENTS[accent]}({base})" if accent in _ACCENTS else base


def _function(name: str, argument: str) -> str:
    return f"{name} {argument}" if argument else name


def _matrix(rows: Sequence[Sequence[str]]) -> str:
    return "; ".join(", ".join(row) for row in rows)


def _value(element: Any, path: str, default: str) -> str:
    """Return a property's value: the default where it isn't set, empty where it is set to none."""
    found = element.find("/".join(f"{_M}{name}" for name in path.split("/")))
    return default if found is None else found.get(f"{_M}val", "")


def _of(element: Any, name: str) -> str:
    return _pieces(element.find(f"{_M}{name}"))


def _delimited(element: Any) -> str:
    begin, end = _value(element, "dPr/begChr", "("), _value(element, "dPr/endChr", ")")
    separator = _value(element, "dPr/sepChr", "|")
    return begin + separator.join(_bare(one) for one in element.iterchildren(f"{_M}e")) + end


def _bare(element: Any) -> str:
    """Return a content within delimiters; a matrix that fills it needs no brackets of its own."""
    children = [child for child in element if child.tag != f"{_M}ctrlPr"]
    if len(children) == 1 and children[0].tag == f"{_M}m":
        return _matrix(_matrix_rows(children[0]))
    return _pieces(element)


def _matrix_rows(element: Any) -> list[list[str]]:
    return [[_pieces(cell) for cell in row.iterchildren(f"{_M}e")] for row in element.iterchildren(f"{_M}mr")]


def _equation_array(element: Any) -> str:
    return "; ".join(_pieces(one).replace("&", "") for one in element.iterchildren(f"{_M}e"))


def _nary(element: Any) -> str:
    sign = _value(element, "naryPr/chr", "∫")
    return _operator(sign, _of(element, "sub"), _of(element, "sup"), _of(element, "e"))


def _prescript(element: Any) -> str:
    return f"{_script('', _of(element, 'sub'), _of(element, 'sup'))} {_of(element, 'e')}"


def _linear_fraction(element: Any) -> str:
    above, below = _of(element, "num"), _of(element, "den")
    if _value(element, "fPr/type", "bar") == "noBar":
        return f"({above}; {below})"
    return _fraction(above, below)


def _children(element: Any) -> list[str]:
    return [_piece(child)[0] for child in element if isinstance(child.tag, str)] + [""] * 4


def _math_over(element: Any) -> str:
    base, above, *_ = _children(element)
    is_accent = above in _SPACING_ACCENTS or above in _ACCENTS
    return _accented(base, above) if is_accent else _script(base, "", above)


def _fenced(element: Any) -> str:
    inside = element.get("separators", ",")[:1].join(filter(None, _children(element)))
    return element.get("open", "(") + inside + element.get("close", ")")


def _math_table(element: Any) -> str:
    rows = [[_pieces(cell) for cell in row.iter(f"{MATHML}mtd")] for row in element.iter(f"{MATHML}mtr")]
    return f"[{_matrix(rows)}]"


def _semantics(element: Any) -> str:
    return _children(element)[0]


_Structure = Callable[[Any], str]
_STRUCTURES: Final[dict[str, _Structure]] = {
    f"{_M}f": _linear_fraction,
    f"{_M}sSup": lambda one: _script(_of(one, "e"), "", _of(one, "sup")),
    f"{_M}sSub": lambda one: _script(_of(one, "e"), _of(one, "sub"), ""),
    f"{_M}sSubSup": lambda one: _script(_of(one, "e"), _of(one, "sub"), _of(one, "sup")),
    f"{_M}sPre": _prescript,
    f"{_M}rad": lambda one: _root(_of(one, "deg"), _of(one, "e")),
    f"{_M}nary": _nary,
    f"{_M}d": _delimited,
    f"{_M}func": lambda one: _function(_of(one, "fName"), _of(one, "e")),
    f"{_M}limLow": lambda one: _script(_of(one, "e"), _of(one, "lim"), ""),
    f"{_M}limUpp": lambda one: _script(_of(one, "e"), "", _of(one, "lim")),
    f"{_M}acc": lambda one: _accented(_of(one, "e"), _value(one, "accPr/chr", "\u0302")),
    f"{_M}bar": lambda one: _accented(_of(one, "e"), "\u0305"),
    f"{_M}m": lambda one: f"[{_matrix(_matrix_rows(one))}]",
    f"{_M}eqArr": _equation_array,
    f"{MATHML}mfrac": lambda one: _fraction(*_children(one)[:2]),
    f"{MATHML}msup": lambda one: _script(_children(one)[0], "", _children(one)[1]),
    f"{MATHML}msub": lambda one: _script(_children(one)[0], _children(one)[1], ""),
    f"{MATHML}msubsup": lambda one: _script(*_children(one)[:3]),
    f"{MATHML}munder": lambda one: _script(_children(one)[0], _children(one)[1], ""),
    f"{MATHML}mover": _math_over,
    f"{MATHML}munderover": lambda one: _script(*_children(one)[:3]),
    f"{MATHML}msqrt": lambda one: _root("", _pieces(one)),
    f"{MATHML}mroot": lambda one: _root(_children(one)[1], _children(one)[0]),
    f"{MATHML}mfenced": _fenced,
    f"{MATHML}mtable": _math_table,
    f"{MATHML}semantics": _semantics,
}
_LEAVES = frozenset((f"{_M}r", *(f"{MATHML}{name}" for name in ("mi", "mn", "mo", "mtext", "ms"))))
_SKIPPED = frozenset((*(f"{MATHML}{name}" for name in ("annotation", "annotation-xml")), f"{_M}ctrlPr"))
