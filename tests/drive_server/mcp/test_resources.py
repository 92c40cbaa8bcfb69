from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import McpError
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import BlobResourceContents, TextResourceContents
from pydantic import AnyUrl

from drive_server.knowledge.text.omissions import omission_sentence
from drive_server.mcp.resources import MAX_CHARACTERS, MAX_IMAGE_BYTES, Attachment
from drive_server.models.contents import TextRange
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

PNG = b"\x89PNG\r\n\x1a\n\0\0"


@pytest.fixture
async def session(drive: Drive, alice: Actor) -> AsyncIterator[ClientSession]:
    async with host_of(drive, alice) as host:
        yield host.session


async def read(session: ClientSession, uri: Any) -> TextResourceContents | BlobResourceContents:
    return (await session.read_resource(uri)).contents[0]


async def note_of(session: ClientSession, uri: Any) -> TextResourceContents:
    """Return what stands after the content, for the model that it is attached to."""
    _, note = (await session.read_resource(uri)).contents
    assert isinstance(note, TextResourceContents)
    return note


async def refused(session: ClientSession, uri: Any) -> tuple[int, dict[str, Any]]:
    with pytest.raises(McpError) as failed:
        await session.read_resource(uri)
    assert failed.value.error.data is not None
    return failed.value.error.code, failed.value.error.data


async def test_files_and_folders_are_announced_as_templates(session: ClientSession) -> None:
    templates = (await session.list_resource_templates()).resourceTemplates

    assert [template.uriTemplate for template in templates] == [
        "drive://files/{file_id}",
        "drive://folders/{folder_id}",
        "drive://files/{file_id}{?version,start,end}",
        "drive://results/{result_id}{?first}",
    ]


async def test_a_file_is_read_as_text_by_id_and_by_path(drive: Drive, alice: Actor, session: ClientSession) -> None:
    item = (await drive.documents.create(alice, "root", "计划.md", "# 计划")).value

    by_id = await read(session, f"drive://files/{item.id}")
    by_path = await read(session, "drive://files/%2F%E8%AE%A1%E5%88%92.md")

    assert isinstance(by_id, TextResourceContents)
    assert isinstance(by_path, TextResourceContents)
    assert (by_id.text, by_id.mimeType) == (by_path.text, by_path.mimeType) == ("# 计划", "text/markdown")


async def test_a_long_text_is_cut_with_a_note(drive: Drive, alice: Actor, session: ClientSession) -> None:
    item = (await drive.documents.create(alice, "root", "long.txt", "x" * (MAX_CHARACTERS + 1))).value

    contents = await read(session, f"drive://files/{item.id}")

    assert isinstance(contents, TextResourceContents)
    assert contents.text[:MAX_CHARACTERS] == "x" * MAX_CHARACTERS
    assert contents.text[MAX_CHARACTERS:] == "\n[Cut after 200,000 of 200,001 characters; read_file reads the rest.]"


async def test_a_picture_is_read_as_bytes(drive: Drive, alice: Actor, session: ClientSession) -> None:
    item = (await drive.documents.create(alice, "root", "photo.png", PNG)).value

    contents = await read(session, f"drive://files/{item.id}")

    assert isinstance(contents, BlobResourceContents)
    assert (base64.b64decode(contents.blob), contents.mimeType) == (PNG, "image/png")


@pytest.mark.parametrize(
    ("name", "content"), [("photo.png", PNG + bytes(MAX_IMAGE_BYTES)), ("data.bin", b"\0\1\2\3"), ("a.zip", b"PK\3\4")]
)
async def test_what_has_no_text_says_what_to_do_instead(
    drive: Drive, alice: Actor, session: ClientSession, name: str, content: bytes
) -> None:
    item = (await drive.documents.create(alice, "root", name, content)).value

    contents = await read(session, f"drive://files/{item.id}")

    assert isinstance(contents, TextResourceContents)
    assert contents.mimeType == "text/plain"
    assert f"get_download_url with file_id={item.id}" in contents.text
    assert f"{len(content):,} bytes" in contents.text


async def test_the_model_is_told_that_an_attached_file_need_not_be_read_again(
    drive: Drive, alice: Actor, session: ClientSession
) -> None:
    whole = (await drive.documents.create(alice, "root", "plan\u2066.md".replace("\u2066", "\u200f"), "x")).value
    long = (await drive.documents.create(alice, "root", "long.txt", "x" * (MAX_CHARACTERS + 1))).value

    note = await note_of(session, f"drive://files/{whole.id}")
    longer = await note_of(session, f"drive://files/{long.id}")
    contents = await read(session, f"drive://files/{whole.id}")

    assert "don't read it again with read_file" in note.text
    assert f"id {whole.id}, etag {whole.etag}" in note.text
    assert "plan\\u{200f}.md" in note.text
    assert str(note.uri) == f"drive://files/{whole.id}#note"
    assert "start=200000 reads the rest" in longer.text
    assert contents.meta == {"drive-agent/note": note.text}


async def test_a_header_tells_type_size_and_how_the_text_was_got(
    drive: Drive, alice: Actor, session: ClientSession
) -> None:
    plain = (await drive.documents.create(alice, "root", "计划.md", "# 计划")).value
    page = (await drive.documents.create(alice, "root", "page.html", "<p>Hello</p><img src=a.png>")).value

    note = await note_of(session, f"drive://files/{plain.id}")
    extracted = await read(session, f"drive://files/{page.id}")
    extracted_note = await note_of(session, f"drive://files/{page.id}")

    assert note.text.startswith("text/markdown, 8 bytes; the text is the file itself; whole, 4 characters.\n")
    assert isinstance(extracted, TextResourceContents)
    header = f"text/html, {page.size} bytes; the text was extracted from the file; whole, 5 characters. "
    header += omission_sentence({"picture": 1})
    assert extracted.text == f"[{header}]\n\nHello"
    assert extracted_note.text.startswith(f"{header}\n")


async def test_a_header_counts_what_ocr_read_what_is_missing_and_where_it_was_cut(drive: Drive, alice: Actor) -> None:
    item = (await drive.documents.create(alice, "root", "scan.pdf", b"%PDF-")).value
    found = TextRange(
        item=item,
        text="rent",
        start=0,
        end=4,
        total_characters=9,
        first_line=1,
        last_line=1,
        total_lines=2,
        version=1,
        place="",
        omissions={"page": 1},
        recognized=2,
    )
    attached = Attachment(found)

    assert attached.header() == (
        "application/pdf, 5 bytes; the text was extracted from the file, that of 2 of its pages by OCR; "
        f"cut after 4 of 9 characters. {omission_sentence({'page': 1})}"
    )
    assert "其中 2 页由文字识别（OCR）得到" in attached.header("zh")
    text = attached.contents(AnyUrl("drive://files/x")).text
    assert text.startswith(f"[{attached.header()}]\n\nrent\n[Cut after 4 of 9 characters")


async def test_a_folder_is_read_as_json(drive: Drive, alice: Actor, session: ClientSession) -> None:
    await drive.files.create_folder(alice, "root", "A")

    contents = await read(session, "drive://folders/root")

    assert isinstance(contents, TextResourceContents)
    assert contents.mimeType == "application/json"
    folder = json.loads(contents.text)
    assert folder["folder"]["path"] == "/"
    assert [item["name"] for item in folder["listing"]["items"]] == ["A"]


@pytest.mark.parametrize(
    "uri",
    [
        f"drive://files/{'0' * 32}",
        f"drive://folders/{'0' * 32}",
        "drive://files/",
        "drive://files/..%2F..%2Fetc%2Fpasswd",
        "drive://files/a%00b",
        "drive://files/x?version=1",
        "drive://keys/x",
        "file:///etc/passwd",
        "https://example.com/x",
    ],
)
async def test_what_does_not_exist_is_not_found(session: ClientSession, uri: str) -> None:
    code, error = await refused(session, uri)

    assert (code, error["code"]) == (-32002, "not_found")


async def test_somebody_elses_file_is_not_found(drive: Drive, alice: Actor, bob: Actor) -> None:
    item = (await drive.documents.create(alice, "root", "a.md", "x")).value
    async with host_of(drive, bob) as host:
        code, error = await refused(host.session, f"drive://files/{item.id}")

    assert (code, error["code"]) == (-32002, "not_found")


async def test_without_an_identity_or_the_scope_nothing_is_read(drive: Drive, alice: Actor) -> None:
    async with create_connected_server_and_client_session(drive.server) as session:
        nobody = await refused(session, "drive://folders/root")
    async with host_of(drive, with_scopes(alice)) as host:
        unscoped = await refused(host.session, "drive://folders/root")

    assert (nobody[0], nobody[1]["code"]) == (-32000, "unauthenticated")
    assert (unscoped[0], unscoped[1]["code"]) == (-32000, "missing_scope")


async def test_a_folder_is_no_file_and_a_file_no_folder(drive: Drive, alice: Actor, session: ClientSession) -> None:
    item = (await drive.documents.create(alice, "root", "a.md", "x")).value

    assert (await refused(session, "drive://files/root"))[0] == -32602
    assert (await refused(session, f"drive://folders/{item.id}"))[0] == -32602
