"""Texts that are put at the end of a file, and versions that are compared."""

from __future__ import annotations

import codecs
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.errors import (
    EtagMismatchError,
    ForbiddenError,
    IdempotencyConflictError,
    InvalidInputError,
    NotFoundError,
    TooLargeError,
    UnsupportedContentError,
)
from drive_server.services.documents.edits import Edit, appended
from drive_server.services.documents.service import DocumentService
from drive_server.services.journal.effects import MAX_DIFF_CHARACTERS
from tests.drive_server.actors import rehearsing

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


async def raw(store: Store, actor: Actor, ref: str) -> bytes:
    content = await store.documents.open_content(actor, ref)
    return b"".join([chunk async for chunk in content.stream()])


@pytest.mark.parametrize(
    ("before", "addition", "after"),
    [
        ("", "x", "x"),
        ("", "\n", "\n"),
        ("a\n", "x", "a\nx"),
        ("a", "x\n", "a\nx\n"),
        ("a\n\n", "x", "a\n\nx"),
        ("a\r\nb", "x\ny\n", "a\r\nb\r\nx\r\ny\r\n"),
        ("a\r\nb\r\n", "x\r\ny", "a\r\nb\r\nx\r\ny"),
        ("a\r\nb\n", "x\ny", "a\r\nb\nx\ny"),
        ("a\rb\r", "x", "a\rb\rx"),
        ("第一行", "第二行 🌍", "第一行\n第二行 🌍"),
    ],
)
def test_what_is_appended_begins_on_a_line_of_its_own_and_ends_lines_as_the_file_does(
    before: str, addition: str, after: str
) -> None:
    assert appended(before, addition) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (codecs.BOM_UTF8 + "一\n".encode(), codecs.BOM_UTF8 + "一\n二".encode()),
        ("一\r\n三\r\n".encode("utf-16"), "一\r\n三\r\n二".encode("utf-16")),
        (
            "这是用国标编码写成的文字。\n".encode("gb18030"),
            "这是用国标编码写成的文字。\n二".encode("gb18030"),
        ),
    ],
)
async def test_the_encoding_stays(store: Store, ana: Actor, before: bytes, after: bytes) -> None:
    item = await store.file(ana, "/a.txt", before)
    await store.documents.append(ana, item.id, "二")
    assert await raw(store, ana, item.id) == after


async def test_an_append_is_a_version_that_can_be_undone(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/log.md", "one")
    outcome = await store.documents.append(ana, item.id, "two\n")
    assert (outcome.value.version, await store.text(ana, item.id)) == (2, "one\ntwo\n")
    (change, *_) = (await store.journal.list_changes(ana)).items
    assert (change.action, change.summary) == ("append", "Appended 4 characters to 'log.md'.")
    await store.undo.undo(ana, change_id=outcome.change_id)
    assert await store.text(ana, item.id) == "one"


async def test_a_repeated_key_appends_once(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/log.md", "one\n")
    keyed = replace(ana, idempotency_key="k")
    first = await store.documents.append(keyed, item.id, "two\n")
    again = await store.documents.append(keyed, item.id, "two\n")
    assert (again.replayed, again.value) == (True, first.value)
    with pytest.raises(IdempotencyConflictError):
        await store.documents.append(keyed, item.id, "three\n")
    assert await store.text(ana, item.id) == "one\ntwo\n"


async def test_who_appends_at_once_loses_nothing(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/log.md", "begin\n")

    async def add(number: int) -> None:
        await store.documents.append(replace(ana, idempotency_key=f"k{number}"), item.id, f"line {number}\n")

    async with anyio.create_task_group() as group:
        for number in range(12):
            group.start_soon(add, number)

    lines = (await store.text(ana, item.id)).splitlines()
    assert (lines[0], sorted(lines[1:])) == ("begin", sorted(f"line {number}" for number in range(12)))


async def test_with_an_etag_it_is_refused_if_the_file_changed(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/log.md", "one\n")
    await store.documents.append(ana, item.id, "two\n")
    with pytest.raises(EtagMismatchError):
        await store.documents.append(ana, item.id, "three\n", if_match=item.etag)


async def test_a_rehearsal_shows_what_would_be_added(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/log.md", "one\n")
    outcome = await store.documents.append(rehearsing(ana), item.id, "two\n")
    assert outcome.effect is not None
    assert outcome.effect.diff is not None
    assert outcome.effect.diff.endswith(" one\n+two\n")
    assert await store.text(ana, item.id) == "one\n"


async def test_what_can_not_be_appended_to_is_refused(store: Store, ana: Actor, ben: Actor) -> None:
    picture, note = await store.file(ana, "/a.png", b"\x89PNG"), await store.file(ana, "/a.md", "one")
    with pytest.raises(UnsupportedContentError):
        await store.documents.append(ana, picture.id, "x")
    with pytest.raises(InvalidInputError, match="nothing to append"):
        await store.documents.append(ana, note.id, "")
    with pytest.raises(InvalidInputError, match="Unicode"):
        await store.documents.append(ana, note.id, "\ud800")
    with pytest.raises(NotFoundError):
        await store.documents.append(ben, note.id, "x")
    await store.sharing.share(ana, note.id, ben.principal.email, "viewer")
    with pytest.raises(ForbiddenError):
        await store.documents.append(ben, note.id, "x")
    small = DocumentService(store.database, store.blobs, store.journal, store.texts, max_text_bytes=5)
    with pytest.raises(TooLargeError):
        await small.append(ana, note.id, "xyz")


async def test_versions_are_compared_as_a_unified_diff(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/p\u0430y.md", "one\ntwo\n")
    await store.documents.patch(ana, item.id, [Edit("two", "三")])
    await store.documents.write_text(ana, item.id, "four\n")
    found = await store.documents.diff_versions(ana, item.id, 1, 2)
    assert (found.from_version, found.to_version, found.truncated) == (1, 2, False)
    assert found.diff == (
        "--- p\\u{430}y.md (version 1)\n+++ p\\u{430}y.md (version 2)\n@@ -1,2 +1,2 @@\n one\n-two\n+三\n"
    )
    assert "+four" in (await store.documents.diff_versions(ana, item.id, 2)).diff
    assert (await store.documents.diff_versions(ana, item.id, 3, 3)).diff == ""
    assert "-four" in (await store.documents.diff_versions(ana, item.id, 3, 1)).diff


async def test_a_long_diff_is_cut_and_says_so(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "x\n" * 30_000)
    await store.documents.write_text(ana, item.id, "y\n" * 30_000)
    found = await store.documents.diff_versions(ana, item.id, 1)
    assert (len(found.diff), found.truncated) == (MAX_DIFF_CHARACTERS, True)


async def test_extracted_text_is_compared_and_what_has_none_is_refused(store: Store, ana: Actor) -> None:
    store.texts.texts["a.pdf"] = "what it says\n"
    item, picture = await store.file(ana, "/a.pdf", b"%PDF"), await store.file(ana, "/a.png", b"\x89PNG")
    assert (await store.documents.diff_versions(ana, item.id, 1)).diff == ""
    with pytest.raises(UnsupportedContentError):
        await store.documents.diff_versions(ana, picture.id, 1)


async def test_comparing_is_for_editors_and_for_versions_that_are_there(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/a.md", "one")
    for number in (0, 2, 2**40, -1):
        with pytest.raises(NotFoundError):
            await store.documents.diff_versions(ana, item.id, number)
    with pytest.raises(NotFoundError):
        await store.documents.diff_versions(ben, item.id, 1)
    await store.sharing.share(ana, item.id, ben.principal.email, "viewer")
    with pytest.raises(ForbiddenError):
        await store.documents.diff_versions(ben, item.id, 1)


@pytest.mark.parametrize(
    ("on_conflict", "names", "text"), [("rename", ["a (2).md", "a.md"], "one"), ("replace", ["a.md"], "two")]
)
async def test_a_text_can_be_made_under_the_next_name_or_as_the_next_version(
    store: Store, ana: Actor, on_conflict: str, names: list[str], text: str
) -> None:
    await store.file(ana, "/a.md", "one")
    await store.documents.create(ana, "/", "a.md", "two", on_conflict=on_conflict)  # pyright: ignore[reportArgumentType] - one of the literals
    assert (sorted(await store.names(ana)), await store.text(ana, "/a.md")) == (names, text)
    with pytest.raises(InvalidInputError):
        await store.documents.create(ana, "/", "a.md", "two", on_conflict="ask")  # pyright: ignore[reportArgumentType] - meant to be wrong


async def test_a_stored_content_becomes_the_next_version_whatever_the_file_is(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.png", b"\x89PNG 1")
    blob = await store.blobs.put_bytes(b"\x89PNG 2")
    replaced = (await store.documents.replace_from_blob(ana, item.id, blob)).value
    assert (replaced.version, replaced.media_type, await raw(store, ana, item.id)) == (2, "image/png", b"\x89PNG 2")
    with pytest.raises(EtagMismatchError):
        await store.documents.replace_from_blob(ana, item.id, blob, if_match=item.etag)
