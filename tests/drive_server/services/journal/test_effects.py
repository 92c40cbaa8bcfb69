from __future__ import annotations

from time import process_time

import pytest

from drive_server.services.journal.effects import MAX_DIFF_CHARACTERS, unified_diff_of, unified_text_diff
from drive_server.services.journal.recorder import ContentChange
from drive_server.storage.blobs import Blob, open_blobs


def test_a_change_is_shown_with_its_line_numbers_and_three_lines_around() -> None:
    lines = [f"line {number}\n" for number in range(1, 101)]
    before = "".join(lines)
    after = before.replace("line 50\n", "line fifty\n")
    assert unified_text_diff("a.txt", before, after) == (
        "--- a.txt\n+++ a.txt\n@@ -47,7 +47,7 @@\n line 47\n line 48\n line 49\n"
        "-line 50\n+line fifty\n line 51\n line 52\n line 53\n"
    )


def test_equal_texts_have_no_diff() -> None:
    assert unified_text_diff("a.txt", "x\n", "x\n") == ""


def test_a_missing_newline_at_the_end_is_seen() -> None:
    assert "\\ No newline at end of file" in unified_text_diff("a.txt", "x\n", "x")


def test_a_name_can_not_forge_lines_of_the_diff() -> None:
    assert "\u202e" not in unified_text_diff("a\u202eb", "x", "y")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n" * 3_000_000, "b\n" * 3_000_000),
        ("a\nb\n" * 1_000_000, "b\na\n" * 1_000_000),
        ("".join(f"{n}\n" for n in range(1_000)) * 2, "".join(f"{n}\n" for n in reversed(range(1_000))) * 2),
        ("x" * 10_000_000, "y" * 10_000_000),
    ],
)
def test_the_diff_of_hostile_texts_takes_bounded_time_and_room(before: str, after: str) -> None:
    begun = process_time()
    assert unified_text_diff("a.txt", before, after)
    assert process_time() - begun < 20


async def test_a_long_diff_is_cut_and_says_so(tmp_path: pytest.TempPathFactory) -> None:
    blobs = await open_blobs(f"file://{tmp_path}")
    data = b"x\n" * 50_000
    blob = Blob("0" * 64, len(data))
    diff = await unified_diff_of(blobs, [ContentChange("a.txt", None, blob, data)])
    assert diff
    assert diff.endswith("… the diff goes on; this is its beginning.")
    assert len(diff) < MAX_DIFF_CHARACTERS + 100


async def test_bytes_that_are_no_text_are_told_by_their_size(tmp_path: pytest.TempPathFactory) -> None:
    blobs = await open_blobs(f"file://{tmp_path}")
    before = await blobs.put_bytes(b"\0\1")
    after = await blobs.put_bytes(b"\0" * 2048)
    assert await unified_diff_of(blobs, [ContentChange("a.bin", before, after)]) == (
        "a.bin: 2 bytes become 2,048 bytes (no text to compare)\n"
    )
    assert await unified_diff_of(blobs, []) is None
