"""Many items at once: names by one rule, folders by year, all but some; and corrections of the passage changed last."""

from typing import Any

import pytest

from tests.graph.offline.world import Drive, Talk


class Batches(Drive):
    """The drive with the tools that change many items, which only keep what they were asked for."""

    def tool_rename_items(self, **args: Any) -> Any:
        return "Renamed.", {"items": [], "changed": 2, "asked": args}

    def tool_organize_items(self, **args: Any) -> Any:
        return "Moved.", {"items": [], "changed": 1, "asked": args}


@pytest.fixture
def talk() -> Talk:
    talk = Talk(Batches())
    talk.drive.put("/Photos")
    for number in (1, 2, 3):
        talk.drive.put(f"/Photos/IMG_{number}.txt", "x")
    talk.drive.put("/Invoices")
    talk.drive.put("/Invoices/invoice 2025-017.md", "x")
    talk.drive.put("/Invoices/invoice 2026-001.md", "x")
    return talk


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("rename all my photos so they start with Kyoto", {"pattern": "Kyoto {name}"}),
        ("prefix the files in Photos with trip-", {"pattern": "trip-{name}"}),
        ("replace IMG by Trip in all photo names", {"find": "IMG", "replace": "Trip"}),
    ],
)
def test_names_are_changed_by_one_rule(talk: Talk, message: str, rule: dict[str, str]) -> None:
    talk.say(message)
    name, args = talk.calls[-1]
    assert name == "rename_items"
    assert args == {"folder_id": talk.drive.find("/Photos")["id"], **rule}


@pytest.mark.parametrize(
    "message",
    [
        "should I rename all my photos so they start with Kyoto?",
        "don't prefix the files in Photos with trip-",
        "不要把照片里的文件名前面都加上 2026_",
        "how many names were added in front of the list in the minutes?",
    ],
)
def test_a_question_or_a_ban_changes_no_names(talk: Talk, message: str) -> None:
    talk.say(message)
    assert not {"rename_items", "organize_items", "append_to_file", "patch_file"} & set(talk.called)


def test_folders_by_year_go_by_the_years_in_the_names(talk: Talk) -> None:
    talk.say("sort the files in Invoices into folders by year")
    made = [(args["folders"], args["item_ids"]) for name, args in talk.calls if name == "organize_items"]
    ids = [talk.drive.find(f"/Invoices/invoice {name}.md")["id"] for name in ("2025-017", "2026-001")]
    assert made == [("2025", ids[:1]), ("2026", ids[1:])]


@pytest.mark.parametrize("message", ["delete all photos but IMG_2", "delete everything in Photos except the second"])
def test_all_but_one_are_moved_to_the_trash(talk: Talk, message: str) -> None:
    talk.say(message)
    assert talk.drive.names("/Photos") == ["IMG_2.txt"]


def test_all_but_what_is_not_there_is_not_begun(talk: Talk) -> None:
    talk.say("delete everything in Photos except the slides")
    assert len(talk.drive.names("/Photos")) == 3


def test_a_value_is_set_where_the_thing_is_named_once(talk: Talk) -> None:
    talk.drive.put("/Rental.md", "The rent is 780 EUR.\nThe deposit is 600 EUR.\n")
    talk.say("set the deposit in the rental to 700 EUR")
    assert talk.drive.text("/Rental.md") == "The rent is 780 EUR.\nThe deposit is 700 EUR.\n"
    talk.say("set the pet fee in the rental to 30 EUR")
    assert "30" not in talk.drive.text("/Rental.md").replace("780", "")


def test_a_correction_changes_only_the_passage_that_was_changed_last(talk: Talk) -> None:
    talk.drive.put("/Terms.md", "Pay within 30 days.\nLeave within 28 days.\n")
    talk.say("change 28 days to 30 days in Terms.md")
    talk.say("no, make it 29")
    assert talk.drive.text("/Terms.md") == "Pay within 30 days.\nLeave within 29 days.\n"
