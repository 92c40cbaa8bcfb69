"""What would leave the drive with a call of an outside server."""

import pytest

from graph.policy.leaving import leaving

SEEN = ["/Contracts/Kingfisher.md, 812 B", "The notice period is 30 days. 甲方应于三十日内付款。"]
SAID = ["What is the weather in Lisbon tomorrow?"]


@pytest.mark.parametrize(
    "args",
    [
        {"city": "Lisbon"},
        {"days": 3, "exact": True, "unit": None},
        {"query": "weather tomorrow in Lisbon"},
        {"zone": "Europe/Lisbon"},
        {"text": "What is the weather in Lisbon tomorrow?"},
    ],
)
def test_the_persons_own_words_and_new_short_ones_may_leave(args: dict[str, object]) -> None:
    assert leaving(args, SEEN, SAID) == []


@pytest.mark.parametrize(
    ("args", "names"),
    [
        ({"query": "kingfisher"}, ["query"]),
        ({"body": {"lines": ["hello", "the NOTICE period"]}}, ["body.lines.1"]),
        ({"n": 30}, ["n"]),
        ({"text": "应于三十"}, ["text"]),
        ({"map": {"Kingfisher": "x"}}, ["map.Kingfisher"]),
        ({"text": "ｋｉｎｇｆｉｓｈｅｒ"}, ["text"]),
        ({"text": "so " * 100}, ["text"]),
        ({"text": "VGhlIG5vdGljZSBwZXJpb2QgaXMgMzAgZGF5cw=="}, ["text"]),
    ],
)
def test_words_of_the_drive_long_texts_and_encodings_are_named(args: dict[str, object], names: list[str]) -> None:
    assert leaving(args, SEEN, SAID) == names


def test_what_the_person_wrote_may_leave_even_if_it_stands_in_the_drive() -> None:
    assert leaving({"query": "Kingfisher"}, SEEN, ["look up Kingfisher on the web"]) == []


def test_where_nothing_was_seen_nothing_can_leave() -> None:
    assert leaving({"text": "so " * 200}, [""], []) == []
