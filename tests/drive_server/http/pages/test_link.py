"""A link's page for a person, and its download address for a program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

from drive_server.http.pages.link import WORDS
from drive_server.kernel.access import Actor
from drive_server.services.sharing.link_passwords import GUESSES
from drive_server.services.sharing.links import LinkTerms

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.models.items import Item
    from tests.drive_server.http.service import Service

CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}
HOSTILE = "<script>alert(1)</script>"
RIGHT_TO_LEFT = "דוח סופי.txt"


@pytest.fixture
async def owner(service: Service) -> Actor:
    return Actor(await service.drive.identity.authenticate(service.token))


@pytest.fixture
async def folder(service: Service, owner: Actor) -> Item:
    return (await service.drive.files.create_folder(owner, "root", "Reports")).value


@pytest.fixture
async def visitor(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    async with service.client("") as client:
        yield client


async def page_of(service: Service, owner: Actor, ref: str, **terms: object) -> str:
    asked = LinkTerms(**terms)  # pyright: ignore[reportArgumentType] - terms as each test names them
    link = (await service.drive.links.create(owner, ref, asked)).value
    assert link.url is not None
    return urlsplit(link.url).path


async def test_a_folder_is_shown_with_a_way_down_and_up_and_a_button_for_each_file(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient
) -> None:
    below = (await service.drive.files.create_folder(owner, folder.id, "子文件夹")).value
    await service.drive.documents.create(owner, below.id, "deep.txt", "deep content")
    path = await page_of(service, owner, folder.id)

    top = await visitor.get(path)
    (down,) = re.findall(r"<a href='([^']+)'><bdi>子文件夹</bdi></a>", top.text)
    inner = await visitor.get(down)
    (address,) = re.findall(r"href='([^']+)' download>Download</a>", inner.text)

    assert "<bdi>Reports</bdi>" in top.text
    assert ">Up</a>" not in top.text
    assert f"item={folder.id}'>Up</a>" in inner.text
    assert (await visitor.get(address)).text == "deep content"


async def test_a_single_file_is_shown_with_its_size_and_a_button(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient
) -> None:
    file = (await service.drive.documents.create(owner, folder.id, "big.bin", b"x" * 1_234_567)).value
    shown = await visitor.get(await page_of(service, owner, file.id))
    assert "1.2 MB" in shown.text
    assert shown.text.count(" download>") == 1
    assert "Reports" not in shown.text


async def test_a_long_folder_is_paged_and_an_empty_one_says_so(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drive_server.http.pages.link.PAGE_SIZE", 2)
    path = await page_of(service, owner, folder.id)
    assert "This folder is empty." in (await visitor.get(path)).text
    for name in ("a", "b", "c"):
        await service.drive.files.create_folder(owner, folder.id, name)
    first = await visitor.get(path)
    (more,) = re.findall(r"<a href='([^']+)'>More</a>", first.text)
    rest = await visitor.get(more.replace("&amp;", "&"))
    assert re.findall(r"<bdi>(\w)</bdi>", first.text + rest.text) == ["a", "b", "c"]
    assert "More" not in rest.text


async def test_names_are_escaped_isolated_and_marked(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient
) -> None:
    for name in (HOSTILE.replace("/", ""), RIGHT_TO_LEFT, "p\u0430y\u200b.txt", "' onclick='x"):
        await service.drive.documents.create(owner, folder.id, name, "x")
    shown = (await visitor.get(await page_of(service, owner, folder.id))).text
    assert "<script" not in shown
    assert f"<bdi>{RIGHT_TO_LEFT}</bdi>" in shown
    assert "p\\u{430}y\\u{200b}.txt" in shown
    assert "onclick='" not in shown


async def test_the_page_speaks_chinese_to_those_who_do(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient
) -> None:
    path = await page_of(service, owner, folder.id)
    assert "此文件夹为空" in (await visitor.get(path, headers=CHINESE)).text
    assert "This folder is empty" in (await visitor.get(path)).text
    assert '<html lang="zh-CN">' in (await visitor.get(f"{path}?lang=zh")).text
    assert "此链接无效" in (await visitor.get("/s/unknown", headers=CHINESE)).text
    assert all(set(words) == {"en", "zh"} for words in WORDS.values())


async def test_it_needs_nothing_from_elsewhere_and_runs_nothing(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient
) -> None:
    shown = await visitor.get(await page_of(service, owner, folder.id))
    policy = shown.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert not re.findall(r"<(?:script|link|img|iframe)|https?://", shown.text)
    assert (shown.headers["X-Frame-Options"], shown.headers["Cache-Control"]) == ("DENY", "no-store")


async def test_the_password_opens_the_page_and_its_downloads_for_this_link_only(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient
) -> None:
    file = (await service.drive.documents.create(owner, folder.id, "plan.md", "text")).value
    path = await page_of(service, owner, folder.id, password="correct horse")
    other = await page_of(service, owner, folder.id, password="correct horse")

    locked = await visitor.get(path)
    wrong = await visitor.post(path, data={"password": "wrong horse"})
    opened = await visitor.post(path, data={"password": "correct horse"})
    content = f"/api/links/{path.rpartition('/')[2]}/items/{file.id}/content"

    assert (locked.status_code, "type='password'" in locked.text, "plan.md" in locked.text) == (403, True, False)
    assert (wrong.status_code, "That is not the password." in wrong.text) == (403, True)
    assert (opened.status_code, opened.headers["Location"]) == (303, path)
    cookies = opened.headers.get_list("set-cookie")
    assert len(cookies) == 2
    assert all("HttpOnly" in cookie and "SameSite=lax" in cookie and "Max-Age=3600" in cookie for cookie in cookies)
    assert "plan.md" in (await visitor.get(path)).text
    assert (await visitor.get(content)).text == "text"
    assert (await visitor.get(other)).status_code == httpx.codes.FORBIDDEN


async def test_too_many_wrong_passwords_have_to_wait(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient
) -> None:
    path = await page_of(service, owner, folder.id, password="correct horse")
    answers = [await visitor.post(path, data={"password": f"wrong {number}"}) for number in range(GUESSES + 1)]
    assert [answer.status_code for answer in answers] == [403] * GUESSES + [429]
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert "Wait a minute" in answers[-1].text


async def test_another_sites_page_can_not_send_the_form(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient
) -> None:
    path = await page_of(service, owner, folder.id, password="correct horse")
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        answer = await visitor.post(path, data={"password": "correct horse"}, headers=headers)
        assert answer.status_code == httpx.codes.FORBIDDEN
        assert "set-cookie" not in answer.headers
    plain = await visitor.post(path, content=b'{"password": "correct horse"}')
    assert plain.status_code == httpx.codes.FORBIDDEN
    assert (await visitor.post("/s/unknown", data={"password": "correct horse"})).status_code == httpx.codes.NOT_FOUND


async def test_a_download_address_needs_no_key_and_takes_ranges(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient
) -> None:
    file = (await service.drive.documents.create(owner, folder.id, "报告.txt", "0123456789")).value
    path = urlsplit((await service.drive.downloads.create(owner, file.id)).value.url).path

    whole = await visitor.get(path)
    part = await visitor.get(path, headers={"Range": "bytes=2-4"})
    head = await visitor.head(path)
    same = await visitor.get(path, headers={"If-None-Match": whole.headers["ETag"]})

    assert (whole.text, part.status_code, part.text) == ("0123456789", 206, "234")
    assert "filename*=UTF-8''%E6%8A%A5%E5%91%8A.txt" in whole.headers["Content-Disposition"]
    assert (head.status_code, head.headers["Content-Length"], head.content) == (200, "10", b"")
    assert same.status_code == httpx.codes.NOT_MODIFIED


async def test_a_download_address_that_does_not_hold_is_not_there(
    service: Service, owner: Actor, folder: Item, visitor: httpx.AsyncClient
) -> None:
    file = (await service.drive.documents.create(owner, folder.id, "a.txt", "x")).value
    path = urlsplit((await service.drive.downloads.create(owner, file.id)).value.url).path
    await service.drive.files.trash(owner, file.id)
    answers = [await visitor.get(where) for where in (path, "/d/unknown", f"{path}x")]
    assert [answer.status_code for answer in answers] == [404] * 3
    assert len({answer.text for answer in answers}) == 1
