"""The own dates of contents, as clients write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from drive_server.http.headers.dates import date_of_headers, date_of_metadata, parse_date

THEN = datetime(2001, 2, 3, 3, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("981169506", THEN),
        (" +981169506 ", THEN),
        ("981169506.", THEN),
        ("981169506.123", THEN.replace(microsecond=123_000)),
        ("981169506.123456789", THEN.replace(microsecond=123_456)),
        ("-157766400", datetime(1965, 1, 1, tzinfo=UTC)),
        ("-0.5", datetime(1969, 12, 31, 23, 59, 59, 500_000, tzinfo=UTC)),
        ("0", datetime(1970, 1, 1, tzinfo=UTC)),
        ("2001-02-03T04:05:06+01:00", THEN),
        ("2001-02-03T03:05:06", THEN),
        ("Sat, 03 Feb 2001 03:05:06 GMT", THEN),
    ],
)
def test_a_date_is_read_in_each_form_that_clients_have(text: str, expected: datetime) -> None:
    assert parse_date(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "nan", "inf", "-inf", "1e9", "0x10", "9" * 12, "9" * 30, "-" + "9" * 12, "-99999999999", "١٢٣"),
        *("1.2.3", "--5", "981169506 s", "2001-13-01", "Mon, 99 Foo 2001", "0001-01-01T00:00:00", "981169506123456789"),
    ],
)
def test_what_is_no_date_or_far_out_of_range_is_none(text: str) -> None:
    assert parse_date(text) is None


def test_the_first_header_that_has_a_date_counts() -> None:
    assert date_of_headers({"x-oc-mtime": "soon", "x-amz-meta-mtime": "981169506"}) == THEN
    assert date_of_headers({"last-modified": "Sat, 03 Feb 2001 03:05:06 GMT"}) == THEN
    assert date_of_headers({}) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mtime", "981169506"),
        ("lastModified", "981169506000"),
        ("modified", "981169506000"),
        ("lastmodified", "2001-02-03T03:05:06Z"),
    ],
)
def test_the_metadata_of_an_upload_has_seconds_or_milliseconds(key: str, value: str) -> None:
    assert date_of_metadata({"filename": "a", key: value}) == THEN
