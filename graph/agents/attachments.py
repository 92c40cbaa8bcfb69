"""The attachments of a message: files with their text and folders with their listing, within a budget."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.messages import AnyMessage, HumanMessage
from mcp.types import BlobResourceContents

from graph.agents.surroundings import DriveReader
from graph.drive.tool_names import FILE_INFO, LIST_FOLDER, READ_FILE
from graph.messages.tokens import sees_pictures, tokens_of
from graph.policy.provenance import Read
from graph.prompts import json_section
from graph.settings import AgentSettings
from graph.state import Attachment

MAX_BEFORE: Final = 10
LISTED_ITEMS: Final = 200
LEAST_CHARACTERS: Final = 200
PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_PICTURES: Final = 5
MAX_PICTURE_BYTES: Final = 5_000_000
PICTURE_TOKENS: Final = 1_500


def takes_pictures(settings: AgentSettings, model: str) -> bool:
    """Say whether the model takes pictures, by the setting or by its name."""
    return settings.vision == "on" or (settings.vision == "auto" and sees_pictures(model))


async def read_attachments(drive: DriveReader, budget: int, *, sees: bool) -> str:
    """Return the section with all attachments, each with its owner and its address as a resource; empty without any.

    The tokens of the budget are shared: the rest of a short one's share goes to those after it. An unreadable one says
    why. Pictures go beside the message (`with_pictures`) to a model that `sees`.
    """
    wanted = drive.place.get("attachments") or []
    found = await asyncio.gather(*(_read(drive, one, sees=sees) for one in wanted))
    shown: list[dict[str, Any]] = []
    for position, one in enumerate(_first_pictures(found)):
        share = max(0, budget) // (len(found) - position)
        shown.append(_fitted(one, share))
        budget -= PICTURE_TOKENS if "picture" in one else tokens_of(str(shown[-1]))
    return json_section("attachments", shown) if shown else ""


async def attached_before(drive: DriveReader, attached: Sequence[Attachment]) -> str:
    """Return the section with the names of earlier attachments that the person still sees; empty without any."""
    now = {one["id"] for one in drive.place.get("attachments", [])}
    earlier = [one["id"] for one in attached if one["id"] not in now]
    found = await asyncio.gather(*(drive.read(FILE_INFO, item_id=key) for key in earlier))
    seen = [item for item in found if item and not item.get("trashed_at")][:MAX_BEFORE]
    shown = [{key: item.get(key) for key in ("id", "kind", "name", "path")} for item in seen]
    return json_section("attached_before", shown) if shown else ""


async def read_pictures(drive: DriveReader) -> list[dict[str, Any]]:
    """Return the attached pictures as chat completions take them, at most five."""
    found = await asyncio.gather(*(_picture(drive, one["id"]) for one in drive.place.get("attachments") or []))
    return [picture for picture in found if picture][:MAX_PICTURES]


def with_pictures(messages: Sequence[AnyMessage], pictures: Sequence[dict[str, Any]]) -> Sequence[AnyMessage]:
    """Return the messages with the pictures beside the person's newest one."""
    place = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)), None)
    if not pictures or place is None:
        return messages
    said = messages[place]
    content: list[str | dict[str, Any]] = [{"type": "text", "text": said.text}, *pictures]
    return [*messages[:place], said.model_copy(update={"content": content}), *messages[place + 1 :]]


async def _picture(drive: DriveReader, item_id: str) -> dict[str, Any] | None:
    """Return a picture as chat completions take it; None if it is none."""
    item = await drive.read(FILE_INFO, item_id=item_id)
    if item is None or not _is_picture(item):
        return None
    found = await drive.toolbox.read_resource(f"drive://files/{item_id}")
    blobs = [one for one in (found.contents if found else ()) if isinstance(one, BlobResourceContents)]
    if not blobs:
        return None
    return {"type": "image_url", "image_url": {"url": f"data:{blobs[0].mimeType};base64,{blobs[0].blob}"}}


def _first_pictures(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the attachments, those with a picture too many with why it is not shown."""
    pictures = [at for at, one in enumerate(found) if "picture" in one]
    unseen = {"problem": f"only the first {MAX_PICTURES} pictures of a message are shown"}
    return [
        {key: value for key, value in one.items() if key != "picture"} | unseen
        if at in pictures[MAX_PICTURES:]
        else one
        for at, one in enumerate(found)
    ]


def _is_picture(item: Mapping[str, Any]) -> bool:
    return str(item.get("media_type")) in PICTURES and int(item.get("size") or 0) <= MAX_PICTURE_BYTES


async def _read(drive: DriveReader, attachment: Attachment, *, sees: bool) -> dict[str, Any]:
    item = await drive.read(FILE_INFO, item_id=attachment["id"])
    if item is None:
        return {"id": attachment["id"], "problem": "not found, or no longer shared"}
    facts = {key: item.get(key) for key in ("id", "kind", "name", "path", "owner")}
    if item.get("kind") == "folder":
        return {**facts, "uri": f"drive://folders/{item['id']}", **await _listing(drive, str(item["id"]))}
    facts |= {"uri": f"drive://files/{item['id']}"}
    is_image = str(item.get("media_type")).startswith("image/")
    text = await _text(drive, str(item["id"]))
    if not is_image or "text" in text:
        return {**facts, **text}
    if not sees:
        return {**facts, "problem": "a picture, and the model in use can't see pictures"}
    if not _is_picture(item):
        return {**facts, "problem": f"a picture of another kind, or of more than {MAX_PICTURE_BYTES:,} bytes"}
    drive.reads.append(Read(str(item["id"]), str(item["name"]), str(item["path"]), str(item.get("owner") or "")))
    return {**facts, "picture": "beside the message"}


async def _listing(drive: DriveReader, folder_id: str) -> dict[str, Any]:
    found = await drive.read(LIST_FOLDER, folder_id=folder_id, limit=LISTED_ITEMS)
    if found is None:
        return {"problem": "it can't be listed"}
    items = cast("Sequence[Mapping[str, Any]]", found.get("items") or [])
    rest = {"more": True} if found.get("cursor") else {}
    return {"items": [{key: item.get(key) for key in ("id", "kind", "name")} for item in items], **rest}


async def _text(drive: DriveReader, file_id: str) -> dict[str, Any]:
    result = await drive.call(READ_FILE, {"file_id": file_id})
    data = drive.noted(READ_FILE, result)
    if data is None:
        refused = (result.structuredContent or {}).get("message") if result else None
        return {"problem": f"its content can't be shown: {refused or 'it can not be read'}"}
    drive.shows(data)
    text, total = str(data.get("text", "")), int(data.get("total_characters") or 0)
    note = {"note": data["note"]} if data.get("note") else {}
    return {"version": data.get("version"), **note, "text": text, "total_characters": max(total, len(text))}


def _fitted(one: dict[str, Any], tokens: int) -> dict[str, Any]:
    """Return the attachment within so many tokens: the beginning of its text, or of its listing."""
    if "items" in one:
        return _fewer(one, tokens)
    text = one.get("text")
    if text is None:
        return one
    size = tokens_of(text)
    if size > tokens:
        text = text[: max(LEAST_CHARACTERS, len(text) * tokens // size)]
    total = one["total_characters"]
    cut = {"cut": f"{len(text)} of {total} characters; go on with read_file, start={len(text)}"}
    rest = {key: value for key, value in one.items() if key != "total_characters"}
    return {**rest, "text": text, **(cut if len(text) < total else {})}


def _fewer(one: dict[str, Any], tokens: int) -> dict[str, Any]:
    items = list(one["items"])
    while len(items) > 1 and tokens_of(str(items)) > tokens:
        items = items[: len(items) // 2]
    return {**one, "items": items, **({"more": True} if len(items) < len(one["items"]) else {})}
