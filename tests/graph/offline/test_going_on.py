"""Second messages go on with what the first was about: another thing, a correction, one more, a place after all."""

from typing import Any

import pytest

from tests.graph.offline.world import TOOLS, Talk, schema

OWN_TOOLS = ("mcp__weather__forecast", "mcp__weather__alerts")


@pytest.fixture
def talk() -> Talk:
    talk = Talk()
    for folder in ("/Staff", "/Orders", "/Letters", "/Suppliers"):
        talk.drive.put(folder)
    talk.drive.put("/Staff/Contract Tom.md", "# Contract\n\nHourly wage: 17.50 EUR.\nLeave: 26 days a year.\n")
    talk.drive.put("/Staff/Contract Mia.md", "# Contract\n\nHourly wage: 19.00 EUR.\nLeave: 28 days a year.\n")
    talk.drive.put("/Orders/2026-03 order.md", "# Order\n\nTo: Velotec\nTotal: 214.00 EUR\n")
    talk.drive.put("/Orders/2026-11 order.md", "# Order\n\nTo: Alpina\nTotal: 655.30 EUR\n")
    talk.drive.put("/Suppliers/Velotec terms.md", "# Terms\n\nDelivery takes three weeks.\n")
    talk.drive.put("/Suppliers/Alpina terms.md", "# Terms\n\nDelivery takes nine days.\n")
    return talk


def test_the_same_is_asked_of_another_thing(talk: Talk) -> None:
    assert "17.50" in talk.say("how much does Tom get an hour?")
    assert "19.00" in talk.say("and Mia?")


def test_another_thing_is_asked_of_the_same_file(talk: Talk) -> None:
    assert "17.50" in talk.say("how much does Tom get an hour?")
    said = talk.say("and the leave?")
    assert "26 days" in said
    assert "28 days" not in said


def test_the_month_tells_which_file_is_meant_and_a_correction_names_another(talk: Talk) -> None:
    assert "655.30" in talk.say("open the order from November")
    assert "214.00" in talk.say("no, I meant the one from March")
    assert talk.called
    assert not {"move_item", "rename_item"} & set(talk.called)


def test_what_was_just_put_somewhere_goes_elsewhere_after_all(talk: Talk) -> None:
    talk.say("create a folder Receipts in Orders")
    talk.say("put it into Letters instead")
    assert talk.drive.path(talk.drive.find("/Letters/Receipts")) == "/Letters/Receipts"
    talk.say("no, to Suppliers")
    assert talk.drive.find("/Suppliers/Receipts")["name"] == "Receipts"


def test_the_text_that_was_changed_last_is_corrected_in_words(talk: Talk) -> None:
    talk.say("in the Velotec terms make it four weeks instead of three weeks")
    assert "four weeks" in talk.drive.text("/Suppliers/Velotec terms.md")
    talk.say("sorry, five")
    assert "five weeks" in talk.drive.text("/Suppliers/Velotec terms.md")


def test_one_more_is_shared_and_the_role_is_given_later(talk: Talk) -> None:
    talk.say("share the Velotec terms with a@example.com")
    talk.say("and the Alpina ones too")
    assert [name for name, _ in talk.calls if name == "share_item"]
    assert talk.drive.path(talk.drive.find(talk.calls[-1][1]["item_id"])) == "/Suppliers/Alpina terms.md"


@pytest.mark.parametrize(
    "message", ["and the other ones?", "no thanks", "and now?", "ok, and what else?", "no, thank you"]
)
def test_what_names_no_other_thing_changes_nothing(talk: Talk, message: str) -> None:
    talk.say("share the Velotec terms with a@example.com")
    talk.say(message)
    assert not {"share_item", "move_item", "update_share", "trash_item"} & set(talk.called)


def test_all_but_a_numbered_one_are_deleted(talk: Talk) -> None:
    talk.drive.put("/Photos")
    for number in range(1, 5):
        talk.drive.put(f"/Photos/shop_0{number}.txt", "x")
    talk.say("delete all the shop photos but number 3")
    assert talk.drive.names("/Photos") == ["shop_03.txt"]


@pytest.mark.parametrize(
    "message", ["use the weather server to tell me if it rains", "用 weather 服务器查一下明天的天气"]
)
def test_tools_of_an_own_server_are_named_as_beyond_it_with_how_to_connect_a_model(talk: Talk, message: str) -> None:
    TOOLS["drive_agent"] = (known := TOOLS["drive_agent"]) | frozenset(OWN_TOOLS)
    try:
        said = talk.say(message)
    finally:
        TOOLS["drive_agent"] = known
    assert "`weather`" in said
    assert "OPENAI_API_KEY" in said
    assert talk.called == []
    assert schema(OWN_TOOLS[0])["function"]["name"] == OWN_TOOLS[0]


@pytest.mark.parametrize(
    ("note", "message", "part"),
    [
        ("3 files are not indexed yet, so their text was not searched.", "who repairs the boiler?", "3 files are not"),
        ("还有 3 个文件尚未建立索引，未搜索其中的内容。", "谁修锅炉？", "还有 3 个文件"),
        ("", "who repairs the boiler?", "I found nothing for “who repairs the boiler?”."),
    ],
)
def test_what_found_nothing_says_how_many_files_were_not_searched(note: str, message: str, part: str) -> None:
    talk = Talk()
    answer = {"hits": [], "cursor": None, "note": note}

    def search(**_args: Any) -> Any:
        return f"0 hits. {note}", answer

    talk.drive.tool_semantic_search_files = talk.drive.tool_search_files = search  # pyright: ignore[reportAttributeAccessIssue]
    assert part in talk.say(message)
