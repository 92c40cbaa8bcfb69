from __future__ import annotations

import pytest

from drive_server.knowledge.coverage import coverage

LEAVE = "Every employee has the right to parental leaves of 12 weeks."


@pytest.mark.parametrize(
    ("query", "share"),
    [
        ("parental leave", 1.0),
        ("parental leave of the employees", 1.0),
        ("parental holiday", 0.5),
        ("ＰＡＲＥＮＴＡＬ", 1.0),
        ("canteen", 0.0),
        ("", 0.0),
        ("the", 0.0),
        ("?!", 0.0),
    ],
)
def test_the_share_of_a_querys_words_is_counted_in_any_form(query: str, share: float) -> None:
    assert coverage(query, ["Soup.", LEAVE]) == pytest.approx(share)


def test_words_have_to_stand_in_one_passage() -> None:
    assert coverage("parental soup", ["Soup.", LEAVE]) == pytest.approx(0.5)


def test_an_identifier_is_all_that_matters() -> None:
    query = "what did we pay for INV-2024-0031"
    assert coverage(query, ["Invoice INV-2024-0031: 300 euros."]) == 1
    assert coverage(query, ["Invoice INV-2024-0032, INV 2024 0031"]) < 1


def test_either_script_covers_the_other() -> None:
    assert coverage("員工請假", ["关于员工请假的规定"]) == 1


def test_without_passages_nothing_is_covered() -> None:
    assert coverage("leave", []) == 0
