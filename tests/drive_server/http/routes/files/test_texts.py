"""The text of a file, for a preview with the passage of a citation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.http.items import FILES, done, file, refused, share
from tests.drive_server.knowledge import documents, samples

if TYPE_CHECKING:
    import httpx

LINES = "".join(f"Line {number}\n" for number in range(1, 2001))


async def text(client: httpx.AsyncClient, item: dict[str, Any], **query: int) -> httpx.Response:
    return await client.get(f"{FILES}/{item['id']}/text", params=query)


@pytest.mark.parametrize(
    ("name", "content", "quote", "place"),
    [
        ("leave.pdf", samples.pdf(), samples.LEAVE_ZH[:20], "page=2"),
        ("deck.pptx", documents.presentation(), samples.LEAVE_ZH[:20], "slide=1"),
        ("预算.xlsx", documents.workbook(), "张三 | 12", "sheet=预算 2024!B4:D5"),
        ("notes.md", b"# Leave\n\n25 days.\n", "25 days.", "line=3"),
    ],
)
async def test_a_document_is_read_as_text_and_says_where_a_passage_stands(
    owner_client: httpx.AsyncClient, name: str, content: bytes, quote: str, place: str
) -> None:
    made = await file(owner_client, name, content)
    whole = done(await text(owner_client, made))
    assert (whole["truncated"], whole["start"], whole["passage"]) == (False, 0, None)
    assert (whole["version"], whole["newest_version"], whole["name"]) == (1, 1, name)
    start = whole["text"].index(quote)
    found = done(await text(owner_client, made, start=start, end=start + len(quote)))
    assert found["passage"] == {"start": start, "end": start + len(quote), "place": place}
    assert found["text"] == whole["text"]


async def test_a_long_text_comes_in_parts_and_around_a_passage(owner_client: httpx.AsyncClient) -> None:
    made = await file(owner_client, "long.txt", LINES.encode())
    read, offset = "", 0
    while len(read) < len(LINES):
        part = done(await text(owner_client, made, offset=offset, limit=9000))
        assert (part["start"], part["total_characters"]) == (offset, len(LINES))
        assert part["truncated"] == (part["end"] < len(LINES))
        read, offset = read + part["text"], part["end"]
    assert read == LINES
    start = LINES.index("Line 1500")
    around = done(await text(owner_client, made, start=start, end=start + 9, limit=101))
    assert len(around["text"]) == 101
    assert around["text"][start - around["start"] :][:9] == "Line 1500"
    assert around["first_line"] == 1 + LINES.count("\n", 0, around["start"])


async def test_earlier_versions_are_for_editors_and_strangers_see_nothing(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    made = await file(owner_client, "plan.txt", b"first")
    done(await owner_client.put(f"{FILES}/{made['id']}/content", content=b"second"))
    assert refused(await text(bobs_client, made)) == (404, "not_found")
    await share(owner_client, made, "bob@example.com", "viewer")
    assert done(await text(bobs_client, made))["text"] == "second"
    assert refused(await text(bobs_client, made, version=1)) == (403, "forbidden")
    earlier = done(await text(owner_client, made, version=1))
    assert (earlier["text"], earlier["version"], earlier["newest_version"]) == ("first", 1, 2)


async def test_what_has_no_text_and_what_is_no_part_is_refused(owner_client: httpx.AsyncClient) -> None:
    made = await file(owner_client, "data.bin", bytes(range(256)))
    assert refused(await text(owner_client, made)) == (415, "unsupported_content")
    archive = await file(owner_client, "a.zip", samples.zip_of({"a.txt": b"a"}))
    told = (await owner_client.get(f"{FILES}/{archive['id']}/text", params={"lang": "zh"})).json()
    assert told["detail"] == "无法读取文字。该文件是压缩包，其中的内容不会被读取。"
    assert told["hint"] == "请改为下载该文件。"
    plain = await file(owner_client, "plain.txt")
    assert refused(await text(owner_client, plain, start=5, end=2))[0] == 422
    assert refused(await text(owner_client, plain, limit=0))[0] == 422
    past = done(await text(owner_client, plain, start=900, end=950))
    assert (past["passage"]["start"], past["passage"]["end"], past["text"]) == (8, 8, "one\ntwo\n")
