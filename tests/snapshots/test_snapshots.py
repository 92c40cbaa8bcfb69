"""Models are sent in twelve conversations what was reviewed; `make snapshots` writes it anew."""

from pathlib import Path

import pytest

from tests.snapshots.conversations import CONVERSATIONS, WITH_SERVERS
from tests.snapshots.recording import REQUESTS, TOOLS, normalised, record, written, written_tools


@pytest.mark.parametrize("name", CONVERSATIONS)
async def test_the_requests_are_those_that_were_reviewed(name: str, tmp_path: Path) -> None:
    requests, given = await record(CONVERSATIONS[name], tmp_path, with_servers=name in WITH_SERVERS)
    assert written(requests, given) == (REQUESTS / f"{name}.txt").read_text(encoding="utf-8")
    reviewed = (REQUESTS / f"{TOOLS}.txt").read_text(encoding="utf-8")
    assert all(part in reviewed for part in written_tools(requests).split("\n=== "))


def test_both_languages_have_six_conversations_and_no_file_is_left_over() -> None:
    assert [sum(name.startswith(language) for name in CONVERSATIONS) for language in ("en_", "zh_")] == [6, 6]
    assert {path.stem for path in REQUESTS.iterdir()} == {*CONVERSATIONS, TOOLS}


def test_ids_and_times_are_the_same_each_time() -> None:
    first, second = "9c23fe" + "0" * 26, "abcdef" + "1" * 26
    text = "abcdef /a, 9c23fe /b, abcdef11-2, 2026-11-22 21:17Z, changed here 2026-11-22 21:18Z, 123456"
    assert normalised(text, [first, second]) == "id1 /a, id2 /b, id1-2, TIME, 123456"
