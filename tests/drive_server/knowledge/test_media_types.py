from __future__ import annotations

import pytest

from drive_server.knowledge.media_types import is_plain_text, is_text, looks_like_text, media_type_of


@pytest.mark.parametrize(
    ("media_type", "editable", "plain"),
    [
        ("text/plain", True, True),
        ("text/markdown", True, True),
        ("application/json", True, True),
        ("application/ld+json", True, True),
        ("text/html", True, False),
        ("text/csv", True, True),
        ("application/pdf", False, False),
        ("image/png", False, False),
        ("application/octet-stream", False, False),
    ],
)
def test_what_can_be_edited_and_what_is_read_as_it_is(media_type: str, editable: bool, plain: bool) -> None:
    assert (is_text(media_type), is_plain_text(media_type)) == (editable, plain)


@pytest.mark.parametrize("name", ["a.b/c", "data:text/html,x", "a.", ".", "", "x" * 5000, "\ud800"])
def test_odd_names_have_no_media_type_of_their_own(name: str) -> None:
    assert media_type_of(name) == "application/octet-stream"


@pytest.mark.parametrize("data", [b"\0\1\2", b"caf\xe9 \xff", b"\x89PNG\r\n\x1a\n\0\0"])
def test_bytes_that_are_no_text_do_not_look_like_text(data: bytes) -> None:
    assert not looks_like_text(data)


def test_a_character_cut_in_two_at_the_end_still_looks_like_text() -> None:
    assert looks_like_text("报告".encode()[:-1])
    assert not looks_like_text(b"")
    assert not looks_like_text(b"\x01\x02")
