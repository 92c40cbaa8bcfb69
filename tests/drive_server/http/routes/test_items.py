from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from drive_server.kernel.access import Actor

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

ITEMS = "/api/drive/items"
PAGED = {"q": "x", "mode": "hybrid", "cursor": "x"}


async def make(client: httpx.AsyncClient, name: str, parent_id: str = "root", **body: str) -> httpx.Response:
    return await client.post(ITEMS, json={"kind": "folder", "name": name, "parent_id": parent_id, **body})


async def test_an_item_is_found_by_id_by_path_and_as_root(owner_client: httpx.AsyncClient) -> None:
    made = (await make(owner_client, "Ünïcode 🗂")).json()

    for ref in (made["id"], "/Ünïcode 🗂", "/Ünïcode 🗂/"):
        response = await owner_client.get(f"{ITEMS}/{quote(ref, safe='')}")
        assert response.json() == made, ref
    for ref in ("root", "/"):
        assert (await owner_client.get(f"{ITEMS}/{quote(ref, safe='')}")).json()["path"] == "/"


async def test_a_folder_named_children_is_an_item_like_any_other(owner_client: httpx.AsyncClient) -> None:
    await make(owner_client, "A")
    await make(owner_client, "children", "/A")
    await make(owner_client, "inside", "/A/children")

    item = await owner_client.get(f"{ITEMS}/{quote('/A/children', safe='')}")
    listed = await owner_client.get(f"{ITEMS}/{quote('/A', safe='')}/children")
    below = await owner_client.get(f"{ITEMS}/{quote('/A/children', safe='')}/children")

    assert item.json()["path"] == "/A/children"
    assert [entry["path"] for entry in listed.json()["items"]] == ["/A/children"]
    assert [entry["path"] for entry in below.json()["items"]] == ["/A/children/inside"]


async def test_a_folder_is_listed_page_by_page(owner_client: httpx.AsyncClient) -> None:
    for name in "abc":
        await make(owner_client, name)

    first = (await owner_client.get(f"{ITEMS}/root/children", params={"limit": 2})).json()
    rest = (await owner_client.get(f"{ITEMS}/root/children", params={"limit": 2, "cursor": first["cursor"]})).json()

    assert [item["name"] for item in first["items"] + rest["items"]] == ["a", "b", "c"]
    assert (first["total"], rest["cursor"]) == (3, None)


async def test_a_folder_is_listed_by_how_names_begin_letter_for_letter(owner_client: httpx.AsyncClient) -> None:
    for name in ("Plan", "Plan_2", "plan", "报告一", "报告二", "100%", "100 %"):
        await make(owner_client, name)

    async def listed(start: str, **more: Any) -> Any:
        params = {"name_starts_with": start, **more}
        return (await owner_client.get(f"{ITEMS}/root/children", params=params)).json()

    for start, names in (("Pl", ["Plan", "Plan_2"]), ("报告", ["报告一", "报告二"]), ("100%", ["100%"]), ("none", [])):
        found = await listed(start)
        assert ([item["name"] for item in found["items"]], found["total"]) == (names, len(names))

    first = await listed("Plan", limit=1)
    rest = await listed("Plan", limit=1, cursor=first["cursor"])
    assert [item["name"] for item in first["items"] + rest["items"]] == ["Plan", "Plan_2"]
    assert first["total"] == 2
    assert (await listed("P", cursor=first["cursor"]))["code"] == "invalid_cursor"


async def test_the_trash_is_listed_like_a_folder(service: Service, owner_client: httpx.AsyncClient) -> None:
    made = (await make(owner_client, "Old")).json()
    principal = await service.drive.identity.authenticate(service.token)

    await service.drive.files.trash(Actor(principal), made["id"])

    listed = (await owner_client.get(f"{ITEMS}/trash/children")).json()

    assert [item["id"] for item in listed["items"]] == [made["id"]]


async def test_a_repeated_request_makes_one_folder_under_its_name_and_under_a_numbered_one(
    owner_client: httpx.AsyncClient,
) -> None:
    async def keyed(key: str, on_conflict: str) -> httpx.Response:
        body = {"kind": "folder", "name": "A", "on_conflict": on_conflict}
        return await owner_client.post(ITEMS, json=body, headers={"Idempotency-Key": key})

    first, again = await keyed("1", "fail"), await keyed("1", "fail")
    renamed, renamed_again = await keyed("2", "rename"), await keyed("2", "rename")
    refused = await keyed("3", "fail")

    assert first.json() == again.json()
    assert renamed.json() == renamed_again.json()
    assert renamed.json()["name"] == "A (2)"
    assert refused.status_code == 409
    assert (await owner_client.get(f"{ITEMS}/root/children")).json()["total"] == 2


async def test_names_words_and_meaning_are_searched(service: Service, owner_client: httpx.AsyncClient) -> None:
    for name, content in (
        ("leave.md", b"Parental leave lasts 30 days."),
        ("photo of leave.png", b"\x89PNG\r\n\x1a\n\0\0"),
    ):
        await owner_client.post("/api/drive/files", params={"name": name}, content=content)
    await service.drive.ingester.drain()

    async def found(**params: str) -> list[tuple[str, str]]:
        hits = (await owner_client.get("/api/drive/search", params=params)).json()["hits"]
        assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
        return [(hit["file"]["name"], hit["text"]) for hit in hits]

    names = [("leave.md", "leave.md"), ("photo of leave.png", "photo of leave.png")]
    passage = ("leave.md", "Parental leave lasts 30 days.")
    assert await found(q="leave", mode="name") == names
    assert await found(q="leave", mode="text") == names
    assert await found(q="parental days", mode="text") == [passage]
    assert await found(q="parental days", mode="name") == []
    assert await found(q="leave", mode="hybrid") == [*names, passage]
    assert await found(q="parental") == [passage]


async def test_a_search_without_hits_says_so_in_the_readers_language(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    await owner_client.post("/api/drive/files", params={"name": "休假.md"}, content="员工每年享有28天休假。".encode())
    await owner_client.post("/api/drive/files", params={"name": "cv.md"}, content="The résumé of José.".encode())
    await service.drive.ingester.drain()

    for mode in ("name", "text", "hybrid"):
        for language, note in (("en", "Nothing found for 'zzzzqqq'."), ("zh", "没有找到“zzzzqqq”。")):
            asked = {"q": "zzzzqqq", "mode": mode}
            found = await owner_client.get("/api/drive/search", params=asked, headers={"Accept-Language": language})
            assert (found.json()["hits"], found.json()["note"]) == ([], note)
    for query in ("resume", "résumé", "jose"):
        found = await owner_client.get("/api/drive/search", params={"q": query, "mode": "text"})
        assert [hit["file"]["name"] for hit in found.json()["hits"]] == ["cv.md"]


async def test_a_search_is_narrowed_by_type_time_and_owner(service: Service, owner_client: httpx.AsyncClient) -> None:
    for name in ("leave.md", "leave.csv", "leave.png"):
        await owner_client.post("/api/drive/files", params={"name": name}, content=b"Parental leave lasts 30 days.")
    await service.drive.ingester.drain()

    async def found(**params: Any) -> set[str]:
        hits = (await owner_client.get("/api/drive/search", params={"q": "leave", **params})).json()["hits"]
        return {hit["file"]["name"] for hit in hits}

    for mode in ("name", "text", "hybrid"):
        assert await found(mode=mode, type="image") == {"leave.png"}
        assert await found(mode=mode, type=["spreadsheet", ".md"]) == {"leave.md", "leave.csv"}
        assert await found(mode=mode, modified_before="2020-01-01") == set()
        assert await found(mode=mode, belongs_to="shared") == set()
        assert len(await found(mode=mode, belongs_to="me", modified_after="2020-01-01")) == 3
    for params in ({"type": "text"}, {"kind": "file", "q": " "}, {"kind": "file", "q": "leave", "mode": "name"}):
        hits = (await owner_client.get("/api/drive/search", params=params)).json()["hits"]
        assert "leave.md" in [hit["file"]["name"] for hit in hits]
    assert (await owner_client.get("/api/drive/search", params={"q": "leave", "kind": "folder"})).json()["hits"] == []
    unlimited = await owner_client.get("/api/drive/search")
    assert (unlimited.status_code, unlimited.json()["detail"]) == (422, "There is nothing to search for.")
    refused = await owner_client.get("/api/drive/search", params={"q": "leave", "type": "documnt"})
    assert (refused.status_code, refused.json()["detail"]) == (422, "There is no such type of file.")


async def test_the_index_tells_how_far_it_is_and_is_built_anew(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    await owner_client.post("/api/drive/files", params={"name": "a.md"}, content=b"words")
    await service.drive.ingester.drain()

    before = await owner_client.get("/api/drive/index")
    rebuilding = await owner_client.post("/api/drive/index/rebuild")
    await service.drive.ingester.drain()
    after = await owner_client.get("/api/drive/index")

    assert before.json()["counts"]["ready"] == 1
    assert rebuilding.status_code == 202
    assert after.json() == before.json()


async def test_bad_requests_are_refused_and_make_nothing(owner_client: httpx.AsyncClient) -> None:
    bodies = (
        {},
        {"kind": "file", "name": "a"},
        {"kind": "folder", "name": 7},
        {"kind": "folder", "name": "a", "owner": "bob"},
        {"kind": "folder", "name": "a", "on_conflict": "replace"},
        {"kind": "folder", "name": ".."},
        {"kind": "folder", "name": "a\0"},
        {"kind": "folder", "name": "x" * 4096},
        ["folder"],
        "folder",
        None,
    )
    for body in bodies:
        response = await owner_client.post(ITEMS, json=body)
        assert response.status_code == 422, body
        assert response.headers["content-type"] == "application/problem+json"
    for params in ({"limit": "0"}, {"limit": "x"}, {"limit": "100000"}, {"cursor": "!"}, {"cursor": "x" * 5000}):
        assert (await owner_client.get(f"{ITEMS}/root/children", params=params)).status_code == 422, params
    for params in ({}, {"q": ""}, {"q": " "}, {"q": "x" * 1001}, {"q": "x", "mode": "regex"}, {"q": "a\0b"}, PAGED):
        assert (await owner_client.get("/api/drive/search", params=params)).status_code == 422, params

    assert (await owner_client.get(f"{ITEMS}/root/children")).json()["items"] == []


async def test_refs_that_lead_nowhere_are_not_found(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    foreign = (await make(owner_client, "A")).json()["id"]

    for ref in (foreign, "0" * 32, "nonsense", "/A", "..%2F..%2Fetc%2Fpasswd", "a%00b", "%F0%9F%99%82", "%ff%fe"):
        for path in (f"{ITEMS}/{ref}", f"{ITEMS}/{ref}/children", f"/api/drive/files/{ref}/content"):
            response = await bobs_client.get(path)
            assert (response.status_code, response.json()["code"]) == (404, "not_found"), path
    assert (await make(bobs_client, "B", foreign)).status_code == 404
