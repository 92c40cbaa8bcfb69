from __future__ import annotations

import json

import pytest

from graph.models.client.events import DONE, EventReader

VALUES = [{"text": "四十五 ✓ 👩‍🚀"}, {"text": "a\\nb\u2028c"}, {"n": [1, 2.5, None]}]


def stream(end: str = "\n", *, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(value, ensure_ascii=False)}" for value in VALUES] + ["data: [DONE]"] * done
    return "".join(f"{line}{end}{end}" for line in lines).encode()


def read(*pieces: bytes) -> list[object]:
    reader = EventReader()
    found = [value for piece in pieces for value in reader.feed(piece)]
    return found + reader.close()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_stream_is_the_same_wherever_it_is_cut_also_within_a_character(end: str) -> None:
    whole = stream(end)
    for cut in range(len(whole) + 1):
        assert read(whole[:cut], whole[cut:]) == [*VALUES, DONE]
    assert read(*(whole[place : place + 1] for place in range(len(whole)))) == [*VALUES, DONE]


def test_comments_other_fields_and_missing_spaces_are_no_matter() -> None:
    found = read(b': keep-alive\n\nevent: message\nid: 4\nretry: 10\ndata:{"a":1}\n\n\n\ndata\n\n')
    assert found == [{"a": 1}]


def test_data_of_several_lines_is_one_value() -> None:
    assert read(b'data: {"a":\ndata: 1}\n\n') == [{"a": 1}]


def test_a_last_event_without_its_blank_line_counts() -> None:
    assert read(b'data: {"a":1}\n\ndata: {"b":2}') == [{"a": 1}, {"b": 2}]


def test_nothing_counts_after_the_end() -> None:
    reader = EventReader()
    assert reader.feed(b'data: [DONE]\n\ndata: {"a":1}\n\n') == [DONE]
    assert reader.ended


def test_half_a_surrogate_pair_is_no_error() -> None:
    assert read(b'data: {"a":"\\ud83d"}\n\n') == [{"a": "\ud83d"}]


@pytest.mark.parametrize("data", [b"{not json", b'{"a":', b"\xff\xfe", b"{'a': 1}"])
def test_what_is_no_json_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each of the parsers has its own words
        read(b"data: " + data + b"\n\n")


def test_a_long_line_in_many_pieces_is_joined_once() -> None:
    piece = b"x" * 65_536
    assert read(b'data: {"a":"', *[piece] * 160, b'"}\n\n') == [{"a": "x" * 65_536 * 160}]
