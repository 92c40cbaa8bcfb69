"""Names of the elements of PresentationML, and the places that slides give to placeholders."""

from typing import Any, Final

P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
OFF: Final = ("0", "false")
TITLES: Final = ("title", "ctrTitle")
NOT_READ: Final = ("sldNum", "dt", "ftr", "hdr", "sldImg")
"""Placeholders that all slides repeat."""


EDGES: Final = ("ftr", "dt")
"""Those of them that have words: footers and dates. They are read once."""

NUMBER: Final = "sldNum"
UNSET_NUMBER: Final = "‹#›"
"""The text of a slide's number that no program has set."""


def placeholder(shape: Any) -> Any:
    """Return the element that says which place of the layout a shape fills; None for shapes of their own."""
    return next((found for one in shape if (found := one.find(f"{P}nvPr/{P}ph")) is not None), None)


def role(shape: Any) -> str:
    """Return the role that the layout gives a shape; empty for shapes of their own."""
    found = placeholder(shape)
    return "" if found is None else found.get("type", "obj")
