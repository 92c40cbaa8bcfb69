from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.services.text.contents import decode_source


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-be"]))
def test_decoded_text_encodes_to_the_same_bytes(text: str, encoding: str) -> None:
    marks = {
        "utf-16-le": codecs.BOM_UTF16_LE,
        "utf-16-be": codecs.BOM_UTF16_BE,
        "utf-32-be": codecs.BOM_UTF32_BE,
    }
    data = marks.get(encoding, b"") + text.encode(encoding)
    source = decode_source(data)
    if source and not source.lossy:
        assert source.encode(source.text) == data


@pytest.mark.parametrize(
    ("text", "encoding"), [("三十天的假期报告", "gb18030"), ("caf\u00e9 au lait", "cp1252"), ("plain", "utf-8")]
)
def test_texts_of_before_unicode_are_read_and_written_back(text: str, encoding: str) -> None:
    source = decode_source(text.encode(encoding))
    assert source
    assert (source.text, source.encode(text)) == (text, text.encode(encoding))


def test_what_an_encoding_can_not_say_is_said_in_utf_8() -> None:
    source = decode_source("caf\u00e9 au lait".encode("cp1252"))
    assert source
    assert source.encode("报告") == "报告".encode()


@pytest.mark.parametrize("data", [b"\0\1\2", b"\x89PNG\r\n\x1a\n\0\0"])
def test_bytes_that_are_no_text_are_not_decoded(data: bytes) -> None:
    assert decode_source(data) is None
