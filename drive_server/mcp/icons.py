"""The icons of tools, prompts and resources: small drawings (SVG) that the service has at addresses of its own."""

from collections.abc import Iterable
from typing import Final, TypeVar
from urllib.parse import quote

from mcp.types import Icon, Prompt, Resource, ResourceTemplate, Tool

Listed = TypeVar("Listed", Prompt, Resource, ResourceTemplate, Tool)

PATH: Final = "/icons"
MEDIA_TYPE: Final = "image/svg+xml"
_FRAME: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#3b6ea5" stroke-width="2" '
    'stroke-linecap="round" stroke-linejoin="round">{}</svg>'
)


DRAWINGS: Final[dict[str, str]] = {}
"""The drawings by their name, the last part of their address."""


def _icon(name: str, path: str) -> Icon:
    """Return the icon; its address begins where the service's ends, see `at_address`."""
    DRAWINGS[name] = _FRAME.format(f'<path d="{path}"/>')
    return Icon(src=f"{PATH}/{name}.svg", mimeType=MEDIA_TYPE)


def at_address(listed: Iterable[Listed], address: str) -> list[Listed]:
    """Return the listed things with our icons at the service's address; if that is empty, without our icons."""
    return [one.model_copy(update={"icons": _placed(one.icons, address)}) for one in listed]


def inline(icon: Icon) -> Icon:
    """Return one of our icons as a `data:` address, for answers that are sent before the service's address is known."""
    drawing = DRAWINGS[icon.src.removeprefix(f"{PATH}/").removesuffix(".svg")]
    return Icon(src=f"data:{MEDIA_TYPE},{quote(drawing, safe='=:/')}", mimeType=MEDIA_TYPE)


def _placed(icons: list[Icon] | None, address: str) -> list[Icon] | None:
    ours = [icon for icon in icons or () if icon.src.startswith(f"{PATH}/")]
    if not ours:
        return icons
    return [icon.model_copy(update={"src": address + icon.src}) for icon in ours] if address else None


FOLDER: Final = _icon("folder", "M3 6h6l2 3h10v10H3z")
DOCUMENT: Final = _icon("document", "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6")
PICTURE: Final = _icon("picture", "M3 5h18v14H3zM3 16l5-5 4 4 3-3 6 6")
SEARCH: Final = _icon("search", "M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15 15l6 6")
PEOPLE: Final = _icon(
    "people", "M9 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M3 20a6 6 0 0 1 12 0M16 6a3 3 0 0 1 0 6M18 20a6 6 0 0 0-2-4"
)
CLOCK: Final = _icon("clock", "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l4 2")
KEY: Final = _icon("key", "M8 10a4 4 0 1 0 0 8 4 4 0 0 0 0-8M11 11l9-7M16 7l3 3")
STACK: Final = _icon("stack", "M4 8l8-4 8 4-8 4zM4 12l8 4 8-4M4 16l8 4 8-4")
TABLE: Final = _icon("table", "M4 5h16v14H4zM4 10h16M4 14h16M10 5v14M15 5v14")
TRASH: Final = _icon("trash", "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6")
DRIVE: Final = _icon("drive", "M4 5h16v14H4zM4 14h16M16 17h1")


def icon_of_file(media_type: str) -> Icon:
    """Return the icon of files of that type."""
    return PICTURE if media_type.startswith("image/") else DOCUMENT
