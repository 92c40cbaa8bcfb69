"""The page on which a citation opens its file at the place."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from drive_server.kernel.access import Actor
from drive_server.models.contents import Citation
from drive_server.services.text.addresses import Passage
from tests.drive_server.knowledge import documents, samples

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

HANDBOOK = "# Handbook\n\nStaff get 25 days of paid leave.\n\n员工可以休十二周。\n"


async def upload(client: httpx.AsyncClient, name: str, content: str | bytes) -> str:
    answer = await client.post("/api/drive/files", params={"name": name}, content=content)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def cite(
    service: Service, client: httpx.AsyncClient, file_id: str, quote: str, version: int | None = None
) -> Passage:
    """Return where a quotation stands, checked for the client's person."""
    principal = await service.drive.identity.authenticate(client.headers["authorization"].removeprefix("Bearer "))
    (found,) = await service.drive.citations.check(Actor(principal), [Citation(file_id, quote, version)])
    assert found.item, found
    return Passage(found.item.id, found.version, found.start, found.end, found.place)


def marked(response: httpx.Response) -> tuple[str, str]:
    """Return the id and the text of the one passage that is marked."""
    ((anchor, text),) = re.findall(r"<mark id='([^']*)' tabindex='-1' autofocus>(.*?)</mark>", response.text, re.DOTALL)
    return unescape(anchor), unescape(text)


async def test_the_address_of_a_citation_opens_the_file_with_the_passage_marked(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    file_id = await upload(owner_client, "handbook.md", HANDBOOK)
    passage = await cite(service, owner_client, file_id, "25 days of paid leave")

    page = await owner_client.get(passage.address(""))

    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert marked(page) == ("line=3", "25 days of paid leave")
    assert unquote(urlsplit(passage.address("")).fragment) == "line=3"
    assert "员工可以休十二周。" in page.text
    assert "line 3" in page.text
    assert "第 3 行" in (await owner_client.get(passage.address("").replace("?", "?lang=zh&"))).text


@pytest.mark.parametrize(
    ("name", "content", "quote", "place", "words"),
    [
        ("leave.pdf", samples.pdf(), samples.LEAVE_ZH[:20], "page=2", "page 2"),
        ("deck.pptx", documents.presentation(), samples.LEAVE_ZH[:20], "slide=1", "slide 1"),
        ("预算.xlsx", documents.workbook(), "张三 | 12", "sheet=预算 2024!B4:D5", "sheet 预算 2024, B4:D5"),
    ],
)
async def test_documents_open_at_page_slide_and_cells(
    service: Service, owner_client: httpx.AsyncClient, name: str, content: bytes, quote: str, place: str, words: str
) -> None:
    file_id = await upload(owner_client, name, content)
    passage = await cite(service, owner_client, file_id, quote)
    page = await owner_client.get(passage.address(""))
    anchor, text = marked(page)
    assert (anchor, unquote(urlsplit(passage.address("")).fragment)) == (place, place)
    assert "".join(text.split()) == "".join(quote.split())
    assert words in page.text


async def test_a_pdf_opens_in_the_browser_at_the_page(service: Service, owner_client: httpx.AsyncClient) -> None:
    file_id = await upload(owner_client, "leave.pdf", samples.pdf())
    passage = await cite(service, owner_client, file_id, samples.LEAVE_ZH[:20])
    page = await owner_client.get(passage.address(""))
    (address,) = re.findall(r"href='([^']*/document[^']*)'", page.text)

    shown = await owner_client.get(unescape(address))

    assert address.endswith("#page=2")
    assert shown.content == samples.pdf()
    assert shown.headers["content-type"] == "application/pdf"
    assert shown.headers["content-disposition"].startswith("inline; ")
    # Anything more, and browsers don't show it.
    assert shown.headers["content-security-policy"] == "frame-ancestors 'self'"
    other = await upload(owner_client, "evil.html", "<script>alert(1)</script>")
    kept = await owner_client.get(f"/f/{other}/document")
    assert kept.headers["content-disposition"].startswith("attachment; ")
    assert kept.headers["content-security-policy"].endswith("; sandbox")


async def test_what_files_are_called_and_say_makes_no_html(service: Service, owner_client: httpx.AsyncClient) -> None:
    text = "before </pre></mark><script>alert(1)</script> <b>שלום</b> & 'quoted' \"words\" 😀 after"
    file_id = await upload(owner_client, "<img src=x onerror=alert(1)>.md", text)
    passage = await cite(
        service, owner_client, file_id, "<script>alert(1)</script> <b>שלום</b> & 'quoted' \"words\" 😀"
    )
    page = await owner_client.get(passage.address(""))
    assert marked(page)[1].startswith("<script>alert(1)</script>")
    assert "<script" not in page.text
    assert "<img" not in page.text
    assert "<b>" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


async def test_an_earlier_version_opens_for_editors_and_says_that_it_is_one(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    file_id = await upload(owner_client, "plan.md", "The fee is 5 euros.")
    changed = {"name": "plan.md", "on_conflict": "replace"}
    await owner_client.post("/api/drive/files", params=changed, content="The fee is 9 euros.")
    share = {"email": "bob@example.com", "role": "viewer"}
    assert (await owner_client.post(f"/api/drive/items/{file_id}/shares", json=share)).is_success
    passage = await cite(service, owner_client, file_id, "5 euros", 1)

    page = await owner_client.get(passage.address(""))
    refused = await bobs_client.get(passage.address(""))
    newest = await bobs_client.get(f"/f/{file_id}")

    assert marked(page) == ("line=1", "5 euros")
    assert "the newest is version 2" in page.text
    assert refused.status_code == 403
    assert "euros" not in refused.text
    assert f"href='/f/{file_id}'" in refused.text
    assert "The fee is 9 euros." in newest.text
    assert "<mark" not in newest.text


async def test_others_learn_nothing(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    file_id = await upload(owner_client, "secret.md", "The code is 1234.")
    path = f"/f/{file_id}?version=1&start=0&end=5"
    there, nowhere = await bobs_client.get(path), await bobs_client.get(path.replace(file_id, "0" * 32))
    async with service.client("") as stranger:
        nobody = await stranger.get(path)
        document = await stranger.get(f"/f/{file_id}/document")
    assert (there.status_code, there.text) == (404, nowhere.text)
    assert (nobody.status_code, document.status_code) == (401, 401)
    assert "secret" not in nobody.text
    assert "name='token'" in nobody.text


async def test_who_logs_in_on_the_page_goes_on_to_the_passage(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    file_id = await upload(owner_client, "handbook.md", HANDBOOK)
    address = (await cite(service, owner_client, file_id, "25 days")).address("")
    path = address.partition("#")[0]
    async with service.client("") as browser:
        wrong = await browser.post(path, data={"token": "dak_wrong"})
        foreign = await browser.post(
            path, data={"token": service.token}, headers={"Sec-Fetch-Site": "cross-site", "Origin": "https://x.example"}
        )
        right = await browser.post(path, data={"token": service.token})
        page = await browser.get(right.headers["location"])
    assert (wrong.status_code, foreign.status_code, right.status_code) == (401, 403, 303)
    assert right.headers["location"] == address
    assert marked(page) == ("line=3", "25 days")


async def test_of_a_long_text_what_is_around_the_passage_is_shown(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    lines = "".join(f"line number {number}\n" for number in range(20_000))
    file_id = await upload(owner_client, "long.txt", lines)
    page = await owner_client.get((await cite(service, owner_client, file_id, "line number 10000")).address(""))
    assert marked(page) == ("line=10001", "line number 10000")
    assert len(page.text) < 60_000
    assert "line number 9000\n" in page.text
    assert "line number 11\n" not in page.text


async def test_a_file_without_text_says_so(owner_client: httpx.AsyncClient) -> None:
    file_id = await upload(owner_client, "a.bin", b"\0\1\2")
    page = await owner_client.get(f"/f/{file_id}?lang=zh")
    assert page.status_code == 415
    assert "无法在这里显示该文件的文字" in page.text
