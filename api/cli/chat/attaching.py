"""Files and folders of the drive that a message names as `@/path`, and goes with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from drive_server.knowledge.formats import FORMATS

if TYPE_CHECKING:
    from api.cli.client import ServiceClient

_ENDINGS: Final = "|".join(sorted({re.escape(suffix) for known in FORMATS for suffix in known.suffixes}))
_ENDS: Final = re.compile(rf"\.(?:{_ENDINGS})(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])", re.IGNORECASE)
"""The ending of a file's name that Chinese, Japanese or Korean follows: those write no space after a path."""
_NAMED: Final = re.compile(r"""(?:^|(?<=[(:]|[^!-~]))@(?:"(/[^"]*)"|“(/[^”]*)”|(/[^\s"“”，。；：、！？）)]*))""")
_END: Final = ".,;:!?"


def paths_in(message: str) -> list[str]:
    """Return the paths after an `@` at the beginning of a word, or after Chinese, which has no spaces; each once.

    One without quotes ends after a file's ending that Chinese follows: quotes hold any path.
    """
    found, at = list[str](), 0
    while named := _NAMED.search(message, at):
        path = named[1] or named[2] or _ended(named[3])
        found.append(path.rstrip("/") or "/")
        at = named.start(named.lastindex or 0) + len(path)
    return list(dict.fromkeys(found))


def _ended(path: str) -> str:
    ending = _ENDS.search(path)
    return path[: ending.end()] if ending else path.rstrip(_END)


def attachments_in(client: ServiceClient, message: str) -> list[dict[str, str]]:
    """Return the attachments of the message as the API takes them. Raises `ServiceError` for a missing item."""
    items = [client.item(path) for path in paths_in(message)]
    return [{f"{item['kind']}_id": str(item["id"])} for item in items]
