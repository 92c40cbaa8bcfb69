"""Files and folders of the drive that a message names as `@/path`, and goes with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from api.cli.client import ServiceClient

_NAMED: Final = re.compile(r"""(?:^|(?<=[(:]|[^!-~]))@(?:"(/[^"]*)"|“(/[^”]*)”|(/[^\s"“”，。；：、！？）)]*))""")
_END: Final = ".,;:!?"


def paths_in(message: str) -> list[str]:
    """Return the paths after an `@` at the beginning of a word, or after Chinese, which has no spaces; each once."""
    found = (quoted or chinese or plain.rstrip(_END) for quoted, chinese, plain in _NAMED.findall(message))
    return list(dict.fromkeys(path.rstrip("/") or "/" for path in found))


def attachments_in(client: ServiceClient, message: str) -> list[dict[str, str]]:
    """Return the attachments of the message as the API takes them. Raises `ServiceError` for what is not there."""
    items = [client.item(path) for path in paths_in(message)]
    return [{f"{item['kind']}_id": str(item["id"])} for item in items]
