"""What is sent along with a message, or open, is what the message is about, before anything else in the drive."""

import pytest

from tests.graph.offline.world import Talk

LEASE = "# Lease\n\nRent: 1,450 EUR a month.\nNotice: three months, in writing.\n"
LICENCE = "# Licence\n\nThe notice period of this licence is thirty days. Give prominent notice of it.\n"
MEMBERS = "| Name | Role | Phone |\n|---|---|---|\n| Ida Falk | Chair | 0171 201 |\n| Jon Berg | Coach | 0171 318 |\n"


@pytest.fixture
def talk() -> Talk:
    talk = Talk()
    talk.drive.put("/Lease.md", LEASE)
    talk.drive.put("/Licence.md", LICENCE)
    talk.drive.put("/Members.md", MEMBERS)
    talk.drive.put("/Papers")
    talk.drive.put("/Papers/Older.md", "x")
    return talk


def test_a_question_is_answered_from_the_attachment_and_from_no_other_file(talk: Talk) -> None:
    talk.attached = ("/Lease.md",)
    assert "three months" in talk.say("what is the notice period?")
    assert "thirty days" not in talk.say("how long is the grace period?")


def test_it_is_the_attachment(talk: Talk) -> None:
    talk.attached = ("/Lease.md",)
    assert "1,450" in talk.say("summarise it")
    talk.attached = ("/Papers",)
    assert "Older.md" in talk.say("what's in it?")


@pytest.mark.parametrize("message", ["what is here?", "list this folder", "这里有什么？", "这个文件夹里都有啥"])
def test_here_is_the_folder_where_the_person_is(talk: Talk, message: str) -> None:
    talk.folder_id = talk.drive.find("/Papers")["id"]
    said = talk.say(message)
    assert "Older.md" in said
    assert "Lease.md" not in said


def test_the_row_of_a_table_is_the_answer_and_never_its_head(talk: Talk) -> None:
    talk.attached = ("/Members.md",)
    said = talk.say("what is Jon's phone number?")
    assert "0171 318" in said
    assert "Role" not in said


def test_two_attachments_and_no_word_which_are_asked_about(talk: Talk) -> None:
    talk.attached = (
        "/Lease.md",
        "/Licence.md",
    )
    talk.say("delete it")
    assert "trash_item" not in talk.called
    assert talk.drive.names("/") == ["Lease.md", "Licence.md", "Members.md", "Papers"]


def test_a_second_question_is_about_the_file_of_the_first_answer(talk: Talk) -> None:
    talk.say("how much is the rent in the lease?")
    assert "three months" in talk.say("and the notice?")


def test_the_second_one_is_that_of_the_list(talk: Talk) -> None:
    talk.drive.put("/Papers/Newer.md", "The newer paper is about bees.")
    talk.say("list the folder Papers")
    assert "about bees" in talk.say("open the first one")


def test_undo_with_nothing_to_undo_says_so_in_any_words(talk: Talk) -> None:
    for message in ("cancel that", "please take that back", "撤销一下"):
        said = talk.say(message)
        assert "Nothing was changed" in said or "没有做过改动" in said
        assert talk.called == []


def test_a_question_for_how_many_is_not_answered_by_one_row_of_a_table(talk: Talk) -> None:
    talk.drive.put("/Fees.md", "| Name | Fee |\n|---|---|\n| Ida Falk | 90 |\n| Jon Berg | 90 |\n")
    assert " says:" not in talk.say("how many members have a fee of 90?")
    assert "90" in talk.say("what is the fee of Jon Berg?")


def test_what_goes_into_a_folder_that_is_missing_waits_for_the_folder(talk: Talk) -> None:
    assert "Shall I make the folder" in talk.say("move Lease.md to Contracts")
    assert talk.drive.names("/Papers") == ["Older.md"]
    talk.say("yes please")
    assert talk.drive.names("/Contracts") == ["Lease.md"]


def test_a_folder_whose_name_is_taken_asks_for_another_and_gets_it(talk: Talk) -> None:
    assert "Which other name" in talk.say("create a folder Papers")
    talk.say("Essays")
    assert talk.drive.names("/Essays") == []


def test_a_link_is_refused_whose_end_is_not_understood(talk: Talk) -> None:
    assert "made no link" in talk.say("make a link to Lease.md that expires the day after tomorrow")
