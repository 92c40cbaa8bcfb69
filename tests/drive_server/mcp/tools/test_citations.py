from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import AnyUrl

from drive_server.mcp.tools.definition.arguments import MAX_PLACE_CHARACTERS
from drive_server.services.documents.citations import MAX_CITATIONS
from tests.drive_server.hosts import WHOLE, Host, host_of, text_of
from tests.drive_server.knowledge import documents, samples

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item

HANDBOOK = (
    "# Handbook\n\n## Leave\n\nStaff get 25 days\nof paid leave. Ask in writing.\n\n"
    "## 差旅\n\n优先乘坐火车，并保留票据。\n"
)


async def put(drive: Drive, actor: Actor, name: str, content: str | bytes) -> Item:
    return (await drive.documents.create(actor, "root", name, content)).value


async def check(host: Host, *citations: dict[str, Any]) -> list[dict[str, Any]]:
    return (await host.call("check_citations", WHOLE, citations=list(citations)))["citations"]


async def test_each_quotation_is_told_whether_and_where_it_stands(drive: Drive, alice: Actor, alices: Host) -> None:
    item = await put(drive, alice, "handbook.md", HANDBOOK)
    stands, invented, chinese = await check(
        alices,
        {"file_id": item.id, "quote": "Staff get 25 days of paid leave."},
        {"file_id": "/handbook.md", "quote": "Staff get 30 days of paid leave."},
        {"file_id": item.id, "quote": "优先乘坐火车", "version": 1, "place": "line=1-3"},
    )

    assert (stands["stands"], stands["reason"], stands["place"]) == (True, "", "line=5-6")
    assert stands["heading"] == "Handbook › Leave"
    assert (stands["version"], stands["current_version"], stands["path"]) == (1, 1, "/handbook.md")
    assert HANDBOOK[stands["start"] : stands["end"]] == "Staff get 25 days\nof paid leave."
    assert (invented["stands"], invented["reason"], invented["uri"], invented["start"]) == (False, "absent", "", None)
    assert (chinese["stands"], chinese["at_place"], chinese["place"]) == (True, False, "line=10")
    assert chinese["heading"] == "Handbook › 差旅"


@pytest.mark.parametrize(
    ("name", "content", "quote", "place"),
    [
        ("leave.pdf", samples.pdf(), samples.LEAVE_ZH[:20], "page=2"),
        ("deck.pptx", documents.presentation(), samples.LEAVE_ZH[:20], "slide=1"),
        ("budget.xlsx", documents.workbook(), "张三 | 12", "sheet=预算 2024!B4:D5"),
        ("book.epub", documents.book(), "", "part="),
        ("notes.txt", b"one\ntwo\nthree four\n", "three four", "line=3"),
        ("table.csv", b"name,amount\r\nAnn,12\r\n", "Ann,12", "line=2"),
    ],
)
async def test_a_citation_leads_back_to_its_place_in_every_kind_of_file(
    drive: Drive, alice: Actor, alices: Host, name: str, content: bytes, quote: str, place: str
) -> None:
    item = await put(drive, alice, name, content)
    quote = quote or (await alices.call("read_file", file_id=item.id))["text"].strip()[-30:]
    (found,) = await check(alices, {"file_id": item.id, "quote": quote})
    assert found["stands"], found
    assert found["place"].startswith(place)

    exactly = {"version": found["version"], "start": found["start"], "end": found["end"]}
    read = await alices.call("read_file", file_id=item.id, **exactly)
    at_place = await alices.call("read_file", file_id=item.id, place=found["place"])
    resource = await alices.session.read_resource(AnyUrl(found["uri"]))

    assert "".join(read["text"].split()) == "".join(quote.split())
    assert (read["place"], read["uri"]) == (found["place"], found["uri"])
    assert read["text"] in at_place["text"]
    text, note = resource.contents
    assert read["text"] in text.text  # pyright: ignore[reportAttributeAccessIssue] - it is text
    assert note.text.endswith(read["text"])  # pyright: ignore[reportAttributeAccessIssue] - it is text


async def test_an_earlier_version_is_checked_for_editors_only(
    drive: Drive, alice: Actor, alices: Host, bobs: Host
) -> None:
    item = await put(drive, alice, "plan.md", "The fee is 5 euros.")
    await drive.sharing.share(alice, item.id, "bob@example.com", "viewer")
    await drive.documents.write_text(alice, item.id, "The fee is 9 euros.")
    old = {"file_id": item.id, "quote": "The fee is 5 euros", "version": 1}
    new = {**old, "version": 2}

    first, second = await check(alices, old, new)
    hidden, seen = await check(bobs, old, {"file_id": item.id, "quote": "9 euros", "version": 2})

    assert (first["stands"], first["version"], first["current_version"]) == (True, 1, 2)
    assert (second["stands"], second["reason"]) == (False, "absent")
    assert (hidden["stands"], hidden["reason"], hidden["name"]) == (False, "forbidden", None)
    assert seen["stands"]
    assert (await alices.call("read_file", file_id=item.id, version=1))["text"] == "The fee is 5 euros."
    assert (await bobs.refused("read_file", file_id=item.id, version=1))["code"] == "forbidden"
    assert (await alices.refused("read_file", file_id=item.id, version=7))["code"] == "not_found"


async def test_what_one_can_not_see_is_not_found_whether_it_is_there_or_not(
    drive: Drive, alice: Actor, bobs: Host
) -> None:
    item = await put(drive, alice, "secret.md", "The code is 1234.")
    there, nowhere = await check(
        bobs, {"file_id": item.id, "quote": "The code is 1234"}, {"file_id": "0" * 32, "quote": "The code is 1234"}
    )
    assert there["reason"] == "not_found"
    assert {**there, "file_id": ""} == {**nowhere, "file_id": ""}


async def test_a_file_that_can_not_be_read_says_nothing_about_the_others(
    drive: Drive, alice: Actor, alices: Host
) -> None:
    picture = await put(drive, alice, "a.bin", b"\0\1\2")
    item = await put(drive, alice, "a.md", "words here")
    folder = (await drive.files.create_folder(alice, "root", "F")).value
    found = await check(
        alices, *({"file_id": key, "quote": "words here"} for key in (picture.id, folder.id, item.id, "/a.md"))
    )
    assert [one["reason"] for one in found] == ["unsupported_content", "invalid_argument", "", ""]


async def test_hostile_quotations_are_answered_like_any_other(drive: Drive, alice: Actor, alices: Host) -> None:
    text = "<script>alert(1)</script> .*+?[](){}|^$ 😀 שלום \u202eabc"
    item = await put(drive, alice, "odd.md", text)
    quotes = [text, "<script>alert(2)</script>", ".*", "(" * 1_000, "x" * 100_000, "\0", "..." * 1_000, "😀 שלום"]
    found = await check(alices, *({"file_id": item.id, "quote": quote} for quote in quotes))
    assert [one["stands"] for one in found] == [True, False, True, False, False, False, False, True]


async def test_what_is_out_of_bounds_is_refused(drive: Drive, alice: Actor, alices: Host) -> None:
    item = await put(drive, alice, "a.md", "one\ntwo\n")
    citation = {"file_id": item.id, "quote": "one"}
    for arguments in (
        {"citations": []},
        {"citations": [citation] * (MAX_CITATIONS + 1)},
        {"citations": [{**citation, "quote": "x" * 100_001}]},
        {"citations": [{**citation, "version": True}]},
        {"citations": [{**citation, "place": "x" * (MAX_PLACE_CHARACTERS + 1)}]},
        {"citations": [{**citation, "who": "me"}]},
    ):
        assert (await alices.refused("check_citations", **arguments))["code"] == "invalid_argument"
    for place, code in (("page=2", "not_found"), ("page=two", "invalid_argument"), ("line=9", "not_found")):
        assert (await alices.refused("read_file", file_id=item.id, place=place))["code"] == code
    assert (await alices.refused("read_file", file_id=item.id, place="line=1", start=0))["code"] == "invalid_argument"
    assert (await alices.call("read_file", file_id=item.id, place="line=2"))["text"] == "two"


async def test_hits_say_their_version_and_place_and_how_to_open_them(drive: Drive, alice: Actor, alices: Host) -> None:
    await put(drive, alice, "deck.pptx", documents.presentation())
    await drive.ingester.drain()

    result = await alices.result("semantic_search_files", query=samples.LEAVE_ZH[:12])
    structured = result.structuredContent
    assert structured
    hit = structured["hits"][0]
    named = (await alices.call("search_files", WHOLE, query="deck.pptx"))["hits"][0]

    assert (hit["version"], hit["place"]) == (1, "slide=1")
    assert f", version 1, slide=1, characters {hit['start']}-{hit['end']}: " in text_of(result)
    assert hit["address"] == f"http://127.0.0.1:8000/f/{hit['uri'].removeprefix('drive://files/')}"
    text, _ = (await alices.session.read_resource(AnyUrl(hit["uri"]))).contents
    assert hit["text"] in text.text  # pyright: ignore[reportAttributeAccessIssue] - it is text
    assert (named["version"], named["place"], named["uri"], named["address"]) == (None, "", "", "")


async def test_a_passage_is_read_by_its_place_alone(drive: Drive, alice: Actor) -> None:
    item = await put(drive, alice, "a.md", "one\ntwo\nthree\n")
    await drive.documents.write_text(alice, item.id, "other\n")
    async with host_of(drive, alice) as host:
        contents = (await host.session.read_resource(AnyUrl(f"drive://files/{item.id}?version=1#line=2"))).contents
        assert contents[1].text.endswith("The passage is characters 4-7:\ntwo")  # pyright: ignore[reportAttributeAccessIssue] - it is text
        for wrong in ("?version=x", "?page=2", "?version=9", "#nowhere", "?version=1&start=-1"):
            with pytest.raises(Exception, match=r"no such|not how a place"):
                await host.session.read_resource(AnyUrl(f"drive://files/{item.id}{wrong}"))
