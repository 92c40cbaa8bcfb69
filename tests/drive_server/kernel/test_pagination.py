from __future__ import annotations

import pytest

from drive_server.kernel.errors import InvalidCursorError
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.signing import Signer

SIGNER = Signer(b"k" * 32)


def test_a_cursor_gives_back_its_key() -> None:
    cursors = Cursors(SIGNER, "ana", "folder", "f1")

    assert cursors.decode(cursors.encode("名 📎 \u200f", 7, ["a", "b"]), str, int, list) == [
        "名 📎 \u200f",
        7,
        ["a", "b"],
    ]
    assert cursors.unseal(cursors.seal(b"\0\xff")) == b"\0\xff"


@pytest.mark.parametrize(
    "other",
    [
        Cursors(SIGNER, "ben", "folder", "f1"),
        Cursors(SIGNER, "ana", "trash", "f1"),
        Cursors(SIGNER, "ana", "folder", "f2"),
        Cursors(SIGNER, "ana", "folder", None),
        Cursors(SIGNER, "ana", "folder"),
        Cursors(SIGNER, "ana", "folder", "f1", None),
        Cursors(Signer(b"x" * 32), "ana", "folder", "f1"),
    ],
)
def test_a_cursor_of_another_person_list_question_or_drive_is_refused(other: Cursors) -> None:
    foreign = other.encode("a")

    with pytest.raises(InvalidCursorError) as refused:
        Cursors(SIGNER, "ana", "folder", "f1").decode(foreign, str)

    assert refused.value.code == "invalid_cursor"
    assert refused.value.hint


def test_a_cursor_that_was_tampered_with_is_refused() -> None:
    cursors = Cursors(SIGNER, "ana", "folder")
    cursor = cursors.encode("a", 1)
    wrong = ["", "x", "\ud800", "计划", f"{cursor}=", f"{cursor}A", cursor[:-1], cursor.swapcase(), "A" * 100_000]
    for text in [
        *wrong,
        *(
            cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
            for place in range(len(cursor))
        ),
    ]:
        with pytest.raises(InvalidCursorError):
            cursors.decode(text, str, int)


def test_a_key_of_another_form_is_refused() -> None:
    cursors = Cursors(SIGNER, "ana", "folder")
    for types in ((int,), (str, str), ()):
        with pytest.raises(InvalidCursorError):
            cursors.decode(cursors.encode("a"), *types)
    with pytest.raises(InvalidCursorError):
        cursors.decode(cursors.encode(True), int)
