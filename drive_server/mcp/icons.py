"""The icons of tools, prompts and resources: small drawings, sent with the lists themselves (SVG, `data:`)."""

from typing import Final
from urllib.parse import quote

from mcp.types import Icon

_FRAME: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#3b6ea5" stroke-width="2" '
    'stroke-linecap="round" stroke-linejoin="round">{}</svg>'
)


def _icon(path: str) -> Icon:
    drawing = _FRAME.format(f'<path d="{path}"/>')
    return Icon(src=f"data:image/svg+xml,{quote(drawing, safe='=:/')}", mimeType="image/svg+xml", sizes=["any"])


FOLDER: Final = _icon("M3 6h6l2 3h10v10H3z")
DOCUMENT: Final = _icon("M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6")
PICTURE: Final = _icon("M3 5h18v14H3zM3 16l5-5 4 4 3-3 6 6")
SEARCH: Final = _icon("M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15 15l6 6")
PEOPLE: Final = _icon("M9 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M3 20a6 6 0 0 1 12 0M16 6a3 3 0 0 1 0 6M18 20a6 6 0 0 0-2-4")
CLOCK: Final = _icon("M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l4 2")
KEY: Final = _icon("M8 10a4 4 0 1 0 0 8 4 4 0 0 0 0-8M11 11l9-7M16 7l3 3")
STACK: Final = _icon("M4 8l8-4 8 4-8 4zM4 12l8 4 8-4M4 16l8 4 8-4")
TABLE: Final = _icon("M4 5h16v14H4zM4 10h16M4 14h16M10 5v14M15 5v14")
TRASH: Final = _icon("M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6")
DRIVE: Final = _icon("M4 5h16v14H4zM4 14h16M16 17h1")


def icon_of_file(media_type: str) -> Icon:
    """Return the icon of files of that type."""
    return PICTURE if media_type.startswith("image/") else DOCUMENT
