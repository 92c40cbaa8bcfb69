from __future__ import annotations

import codecs
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.errors import (
    EditMismatchError,
    ForbiddenError,
    InvalidInputError,
    NameConflictError,
    NotFoundError,
    StorageFailureError,
    TooLargeError,
    UnsupportedContentError,
)
from drive_server.services.documents.edits import Edit
from drive_server.services.documents.service import DocumentService

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from drive_server.storage.blobs import Blob
    from tests.drive_server.store import Store

HELLO = b"hello world"


async def stored(store: Store, data: bytes = HELLO) -> Blob:
    return await store.blobs.put_bytes(data)


async def raw(store: Store, actor: Actor, ref: str, version: int | None = None) -> bytes:
    content = await store.documents.open_content(actor, ref, version)
    return b"".join([chunk async for chunk in content.stream()])


@pytest.mark.parametrize("text", ["", "plain", "报告：三十天\n", "🎉\r\nzweite Zeile", "\ufeffmark", "x" * 100_000])
async def test_a_created_text_reads_back_as_it_was(store: Store, ana: Actor, text: str) -> None:
    item = (await store.documents.create(ana, "/", "a.txt", text)).value
    assert (item.version, item.size, item.index_state) == (1, len(text.encode()), "pending")
    assert await raw(store, ana, item.id) == text.encode()


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.md", "text/markdown"),
        ("A.PDF", "application/pdf"),
        ("no-suffix", "text/plain"),
        ("md", "text/plain"),
        ("报告.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.unknown", "text/plain"),
    ],
)
async def test_the_media_type_comes_from_the_name(store: Store, ana: Actor, name: str, media_type: str) -> None:
    assert (await store.documents.create(ana, "/", name, "x")).value.media_type == media_type


async def test_a_given_media_type_wins_and_a_malformed_one_is_refused(store: Store, ana: Actor) -> None:
    made = await store.documents.create(ana, "/", "a.bin", b"x", "Text/Markdown; charset=utf-8")
    assert made.value.media_type == "text/markdown"
    for wrong in ("text", "text/", "/x", "a b/c", "x" * 300 + "/y", "text/plain\nX: y"):
        with pytest.raises(InvalidInputError):
            await store.documents.create(ana, "/", "b.bin", b"x", wrong)


async def test_an_upload_of_unknown_kind_is_looked_at(store: Store, ana: Actor) -> None:
    for name, data, media_type in (
        ("LICENSE", b"MIT License", "text/plain"),
        ("cut", "报".encode() * 2000, "text/plain"),
        ("blob", b"\0\1\2", "application/octet-stream"),
        ("empty", b"", "application/octet-stream"),
    ):
        made = await store.documents.create_from_blob(ana, "/", name, await stored(store, data))
        assert made.value.media_type == media_type, name


async def test_a_taken_name_is_refused_numbered_or_becomes_a_new_version(store: Store, ana: Actor) -> None:
    first = await store.file(ana, "/a.txt", "first")
    blob = await stored(store)
    with pytest.raises(NameConflictError):
        await store.documents.create_from_blob(ana, "/", "a.txt", blob)
    renamed = (await store.documents.create_from_blob(ana, "/", "a.txt", blob, on_conflict="rename")).value
    assert renamed.name == "a (2).txt"
    replaced = (await store.documents.create_from_blob(ana, "/", "a.txt", blob, on_conflict="replace")).value
    assert (replaced.id, replaced.version) == (first.id, 2)
    assert await store.text(ana, first.id) == "hello world"
    await store.folder(ana, "/folder")
    with pytest.raises(InvalidInputError):
        await store.documents.create_from_blob(ana, "/", "folder", blob, on_conflict="replace")


async def test_a_file_in_a_shared_folder_belongs_to_the_folders_owner(store: Store, ana: Actor, ben: Actor) -> None:
    folder = await store.folder(ana, "/Team")
    with pytest.raises(NotFoundError):
        await store.documents.create(ben, folder.id, "x", "x")
    await store.sharing.share(ana, folder.id, "ben@example.com", "viewer")
    with pytest.raises(ForbiddenError):
        await store.documents.create(ben, folder.id, "x", "x")
    await store.sharing.share(ana, folder.id, "ben@example.com", "editor")
    made = (await store.documents.create(ben, folder.id, "x.txt", "x")).value
    assert (made.owner, made.role) == ("ana@example.com", "editor")
    assert (await store.files.get(ana, "/Team/x.txt")).role == "owner"


async def test_every_new_content_is_a_version_and_old_ones_can_come_back(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    await store.documents.write_text(replace(ana, run_id="run-1"), item.id, "two")
    back = (await store.documents.restore_version(ana, item.id, 1)).value
    assert (back.version, await store.text(ana, item.id)) == (3, "one")
    page = await store.documents.list_versions(ana, item.id, 2)
    rest = await store.documents.list_versions(ana, item.id, 2, page.cursor)
    seen = [(v.number, v.current, v.run_id, v.author) for v in (*page.items, *rest.items)]
    ana_is = "ana@example.com"
    assert seen == [(3, True, None, ana_is), (2, False, "run-1", ana_is), (1, False, None, ana_is)]
    assert await raw(store, ana, item.id, 2) == b"two"


async def test_the_same_content_again_makes_no_version(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    outcome = await store.documents.write_text(ana, item.id, "one")
    assert (outcome.change_id, outcome.value) == (None, item)


async def test_a_viewer_reads_what_is_there_now_and_not_what_was(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/a.txt", "secret")
    await store.documents.write_text(ana, item.id, "public")
    await store.sharing.share(ana, item.id, "ben@example.com", "viewer")
    assert await raw(store, ben, item.id) == b"public"
    for attempt in (
        store.documents.list_versions(ben, item.id),
        store.documents.open_content(ben, item.id, 1),
        store.documents.write_text(ben, item.id, "x"),
        store.documents.patch(ben, item.id, [Edit("public", "x")]),
        store.documents.restore_version(ben, item.id, 1),
    ):
        with pytest.raises(ForbiddenError):
            await attempt


@pytest.mark.parametrize("number", [0, -1, 2, 10**30])
async def test_a_version_that_is_not_there_is_not_found(store: Store, ana: Actor, number: int) -> None:
    item = await store.file(ana, "/a.txt")
    with pytest.raises(NotFoundError):
        await store.documents.restore_version(ana, item.id, number)
    with pytest.raises(NotFoundError):
        await store.documents.open_content(ana, item.id, number)


async def test_a_folder_has_no_content(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/f")
    for attempt in (
        store.documents.read_text(ana, "/f"),
        store.documents.write_text(ana, "/f", "x"),
        store.documents.open_content(ana, "/f"),
        store.documents.list_versions(ana, "/"),
    ):
        with pytest.raises(InvalidInputError):
            await attempt


async def test_ranges_of_characters_and_of_lines_are_read(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "第一行\n第二行\n第三行\n")
    part = await store.documents.read_text(ana, item.id, start=4, end=7)
    assert (part.text, part.first_line, part.last_line, part.total_lines) == ("第二行", 2, 2, 3)
    lines = await store.documents.read_text(ana, item.id, first_line=2, last_line=3)
    assert (lines.text, lines.start, lines.end) == ("第二行\n第三行\n", 4, 12)
    cut = await store.documents.read_text(ana, item.id, limit=5)
    assert (cut.text, cut.end, cut.total_characters) == ("第一行\n第", 5, 12)
    past = await store.documents.read_text(ana, item.id, start=100)
    assert (past.text, past.start, past.end) == ("", 12, 12)


async def test_a_range_that_makes_no_sense_is_refused(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    read = store.documents.read_text
    for attempt in (
        read(ana, item.id, start=-1),
        read(ana, item.id, start=5, end=4),
        read(ana, item.id, first_line=0),
        read(ana, item.id, first_line=3, last_line=2),
        read(ana, item.id, start=0, first_line=1),
        read(ana, item.id, limit=0),
    ):
        with pytest.raises(InvalidInputError):
            await attempt


@pytest.mark.parametrize(
    "data", ["三十天".encode("gb18030"), codecs.BOM_UTF16_LE + "三十天".encode("utf-16-le"), "\ufeff三十天".encode()]
)
async def test_other_encodings_are_read_and_kept_by_a_patch(store: Store, ana: Actor, data: bytes) -> None:
    item = await store.file(ana, "/a.txt", data)
    assert await store.text(ana, item.id) == "三十天"
    await store.documents.patch(ana, item.id, [Edit("三十", "45")])
    assert await store.text(ana, item.id) == "45天"
    assert (await raw(store, ana, item.id))[:2] == (data[:2] if data[0] > 0xE0 else b"45")


async def test_files_that_are_no_text_are_read_through_the_extractor_and_not_edited(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.pdf", b"%PDF-1.7")
    with pytest.raises(UnsupportedContentError) as caught:
        await store.documents.read_text(ana, item.id)
    assert caught.value.message == "No text can be read. This kind of file holds no text."
    store.texts.texts["a.pdf"] = "extracted words"
    assert (await store.documents.read_text(ana, item.id, start=10)).text == "words"
    for attempt in (
        store.documents.write_text(ana, item.id, "x"),
        store.documents.patch(ana, item.id, [Edit("extracted", "x")]),
    ):
        with pytest.raises(UnsupportedContentError):
            await attempt
    assert await raw(store, ana, item.id) == b"%PDF-1.7"


async def test_bytes_in_no_known_encoding_are_not_text(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", b"\0\1\2\3")
    for attempt in (
        store.documents.read_text(ana, item.id),
        store.documents.patch(ana, item.id, [Edit("a", "b")]),
    ):
        with pytest.raises(UnsupportedContentError):
            await attempt


async def test_a_text_with_broken_bytes_is_read_but_not_patched(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "员工每年享有三十天假期。".encode() + b"\xe4\xb8")
    assert (await store.text(ana, item.id)).startswith("员工每年享有三十天假期。")
    with pytest.raises(UnsupportedContentError):
        await store.documents.patch(ana, item.id, [Edit("三十", "45")])


async def test_texts_over_the_limit_are_refused(store: Store, ana: Actor) -> None:
    small = DocumentService(store.database, store.blobs, store.journal, store.texts, max_text_bytes=10)
    item = await store.file(ana, "/a.txt", "x" * 11)
    for attempt in (
        small.read_text(ana, item.id),
        small.write_text(ana, item.id, "y" * 11),
        small.create(ana, "/", "b.txt", "三" * 4),
        small.patch(ana, item.id, [Edit("x", "y")]),
    ):
        with pytest.raises(TooLargeError) as caught:
            await attempt
        assert caught.value.details == {"limit": 10}


async def test_text_that_is_not_unicode_is_refused(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    for attempt in (
        store.documents.create(ana, "/", "b.txt", "\ud800"),
        store.documents.write_text(ana, item.id, "\ud800"),
        store.documents.patch(ana, item.id, [Edit("one", "\ud800")]),
    ):
        with pytest.raises(InvalidInputError):
            await attempt
    with pytest.raises(EditMismatchError):
        await store.documents.patch(ana, item.id, [Edit("\ud800", "x")])


async def test_a_patch_that_does_not_match_leaves_the_file_alone(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/leave.md", "# Leave\nYou have 30 days of leave.\n")
    with pytest.raises(EditMismatchError) as caught:
        await store.documents.patch(ana, item.id, [Edit("# Leave", "# Absence"), Edit("You have 30 day off", "x")])
    assert caught.value.details == {
        "edit": 2,
        "matches": 0,
        "candidates": [{"line": 2, "text": "You have 30 days of leave."}],
    }
    assert await store.files.get(ana, item.id) == item


async def test_a_part_of_the_content_streams(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.bin", bytes(range(256)))
    content = await store.documents.open_content(ana, item.id)
    assert b"".join([chunk async for chunk in content.stream(10, 20)]) == bytes(range(10, 20))
    assert b"".join([chunk async for chunk in content.stream(250, 999)]) == bytes(range(250, 256))
    assert b"".join([chunk async for chunk in content.stream(256)]) == b""
    assert (content.size, content.media_type) == (256, "application/octet-stream")


async def test_a_lost_blob_is_told_without_a_path(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    content = await store.documents.open_content(ana, item.id)
    async with store.blobs.local_path(content.blob) as path:
        path.unlink()
    with pytest.raises(StorageFailureError) as caught:
        await store.documents.read_text(ana, item.id)
    assert str(path) not in str(caught.value.to_dict())


async def test_a_write_by_path_notes_the_content_of_the_file_that_has_the_path_by_then(
    store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await store.file(ana, "/plan.md", "first"), await store.file(ana, "/other.md", "second")
    put_bytes = store.blobs.put_bytes

    async def swapped_meanwhile(data: bytes) -> Blob:
        await store.files.rename(ana, first.id, "old plan.md")
        await store.files.rename(ana, second.id, "plan.md")
        return await put_bytes(data)

    monkeypatch.setattr(store.blobs, "put_bytes", swapped_meanwhile)
    written = await store.documents.write_text(ana, "/plan.md", "third")
    assert written.value.id == second.id
    await store.undo.undo(ana, change_id=written.change_id)
    assert await store.text(ana, second.id) == "second"
