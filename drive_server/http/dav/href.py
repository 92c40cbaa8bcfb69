"""Addresses of items in answers."""

from urllib.parse import quote

SAFE = "/!*'(),$-_|.~"


def href_of(mount: str, path: str, *, is_folder: bool) -> str:
    """Return the address of a path below the mount; folders end with a slash."""
    return quote(f"{mount}{path}" if not is_folder or path.endswith("/") else f"{mount}{path}/", safe=SAFE)
