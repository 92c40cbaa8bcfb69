"""What changed between two versions of a file, as a unified diff."""

import anyio

from drive_server.knowledge.media_types import is_text
from drive_server.models import Item, VersionDiff
from drive_server.services.journal.effects import MAX_DIFF_CHARACTERS, unified_text_diff
from drive_server.services.text.contents import Contents
from drive_server.storage.tables import VersionRow


async def diff_of(contents: Contents, item: Item, before: VersionRow, after: VersionRow) -> VersionDiff:
    """Return the diff between the texts of two versions of the file, cut at 20,000 characters.

    Raises `UnsupportedContentError` for a version without text, `TooLargeError` for one over the limit for texts.
    """
    old, new = await _text_of(contents, item.name, before), await _text_of(contents, item.name, after)
    labels = [f"{item.name} (version {version.number})" for version in (before, after)]
    diff = await anyio.to_thread.run_sync(unified_text_diff, labels[0], old, new, labels[1], abandon_on_cancel=True)
    return VersionDiff(
        item, before.number, after.number, diff[:MAX_DIFF_CHARACTERS], truncated=len(diff) > MAX_DIFF_CHARACTERS
    )


async def _text_of(contents: Contents, name: str, version: VersionRow) -> str:
    """Text files, html too, are compared as they are written, others as what can be read of them."""
    if is_text(version.media_type):
        return (await contents.editable_text_of(name, version)).text
    return await contents.text_of(name, version)
