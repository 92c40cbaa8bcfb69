"""JSON with halves of surrogate pairs, as programs with UTF-16 texts send it."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.kernel.lenient.json_text import WholeCharacters, read_json

PARTS = (r"\ud83d", r"\uDE00", r"\uD83D\ude00", r"\\ud83d", r"\\\ud83d", r"A", r"\n", r"\"", "é", "x", "\\\\")
TEXTS = st.lists(st.sampled_from(PARTS)).map("".join)


def whole(value: Any) -> Any:
    """Return what UTF-16 makes of the value: pairs are characters, halves U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {whole(key): whole(one) for key, one in value.items()}
    return [whole(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (rb'"half \ud83d"', "half �"),
        (rb'"half \ude00 more"', "half � more"),
        (rb'{"\ud83d": ["\uDBFF"]}', {"�": ["�"]}),
        (rb'"\ud83d\ud83d\ude00"', "�😀"),
        (b'"raw \xed\xa0\xbd"', "raw �"),
    ],
)
def test_half_a_pair_becomes_a_replacement_character_wherever_it_stands(text: bytes, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize("text", [r'"\ud83d\ude00"', r'"the text \\ud83d"', '"😀"', r'"\\\\ud83d"', '"é"'])
def test_pairs_and_texts_about_escapes_stay_as_they_are(text: str) -> None:
    assert read_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize("text", [b"", b"{", rb'"\ud83d', rb"\ud83d", b'"\xff"', b"NaN", rb'"\ud8"', b'"\\'])
def test_text_that_is_no_json_is_refused_as_before(text: bytes) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        read_json(text)


@given(TEXTS, st.lists(st.integers(min_value=1, max_value=7), min_size=1))
def test_pieces_of_any_length_give_the_same_text(text: str, lengths: list[int]) -> None:
    data, reader, read = f'["{text}"]'.encode(), WholeCharacters(), b""
    while data:
        lengths = [*lengths[1:], lengths[0]]
        piece, data = data[: lengths[0]], data[lengths[0] :]
        read += reader.feed(piece)
    assert orjson.loads(read + reader.end()) == whole(json.loads(f'["{text}"]')) == read_json(f'["{text}"]'.encode())
