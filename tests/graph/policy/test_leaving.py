"""What would leave the drive with a call of an outside server."""

import pytest

from graph.policy.leaving import leaving, made_up

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
        ({"text": "a2luZ2Zpc2hlcg"}, ["text"]),
        ({"text": "a2lu Z2Zp c2hl cg=="}, ["text"]),
        ({"text": "6b696e67 66697368 6572"}, ["text"]),
        ({"text": "%6bing%66isher"}, ["text"]),
        ({"text": "k-i n.g_f i\u200bs/h e r"}, ["text"]),
        ({"text": "xxkingfisherxx"}, ["text"]),
        ({"text": "rehsifgnik"}, ["text"]),
        ({"text": "Kíngfìsher"}, ["text"]),
        ({"a": "king", "b": ["fish", "er"]}, ["a", "b.0", "b.1"]),
        ({"a": [*"kingfisher"]}, [f"a.{n}" for n in range(10)]),
        ({"a": "so " * 30, "b": "ha " * 40}, ["a", "b"]),
    ],
)
def test_words_of_the_drive_long_texts_and_encodings_are_named(args: dict[str, object], names: list[str]) -> None:
    assert leaving(args, SEEN, SAID) == names


def test_calls_that_leave_together_count_together() -> None:
    args = {"text": "so " * 30}

    assert leaving(args, SEEN, SAID) == []
    assert leaving(args, SEEN, SAID, made_up(args, SAID) * 2) == ["text"]


def test_what_the_person_wrote_may_leave_even_if_it_stands_in_the_drive() -> None:
    assert leaving({"query": "Kingfisher"}, SEEN, ["look up Kingfisher on the web"]) == []


def test_where_nothing_was_seen_nothing_can_leave() -> None:
    assert leaving({"text": "so " * 200}, [""], []) == []
