from __future__ import annotations

import pytest

from drive_server.http.headers.bytes import Span, UnsatisfiableError, matches_etag, parse_range

SIZE = 1000


@pytest.mark.parametrize(
    ("header", "span"),
    [
        ("bytes=0-0", Span(0, 1)),
        ("bytes=0-999", Span(0, 1000)),
        ("bytes=500-", Span(500, 1000)),
        ("bytes=990-5000", Span(990, 1000)),
        ("bytes=-10", Span(990, 1000)),
        ("bytes=-5000", Span(0, 1000)),
        ("Bytes = 1-2".replace(" ", ""), Span(1, 3)),
    ],
)
def test_a_single_range_is_read(header: str, span: Span) -> None:
    assert parse_range(header, SIZE) == span


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=5-2",
        "bytes=0-1,5-6",
        "lines=1-2",
        "bytes=1-2-3",
        f"bytes={'9' * 40}-",
    ],
)
def test_what_is_no_single_range_means_the_whole(header: str | None) -> None:
    assert parse_range(header, SIZE) is None


@pytest.mark.parametrize(
    ("header", "size"), [("bytes=1000-", SIZE), ("bytes=-0", SIZE), ("bytes=0-", 0), ("bytes=-1", 0)]
)
def test_a_range_past_the_end_can_not_be_satisfied(header: str, size: int) -> None:
    with pytest.raises(UnsatisfiableError):
        parse_range(header, size)


@pytest.mark.parametrize(
    ("header", "matches"),
    [
        (None, False),
        ("", False),
        ('"a"', True),
        ('W/"a"', True),
        ('"b", "a"', True),
        ("*", True),
        ('"b"', False),
        ("a", False),
    ],
)
def test_if_none_match_is_compared_weakly(header: str | None, matches: bool) -> None:
    assert matches_etag(header, '"a"') is matches
