"""The reason why a file has no text, in both languages, for each kind that bytes can have."""

from pathlib import Path
from typing import Final, get_args

import pytest

from drive_server.kernel.messages import TEXTS
from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.text.elements import ExtractionState
from drive_server.knowledge.text.omissions import missing_things, omission_sentence
from drive_server.knowledge.text.unreadable import UNREADABLE_KINDS, UnreadableKind, state_of, unreadable
from tests.drive_server.knowledge import samples

ARCHIVE: Final = samples.zip_of({"a.txt": b"a"})
FILES: Final[dict[tuple[UnreadableKind, str], bytes]] = {
    ("archive", "a.zip"): ARCHIVE,
    ("not_text", "a.bin"): bytes(range(256)),
    ("damaged", "a.pdf"): samples.pdf()[:200],
    ("damaged", "a.docx"): ARCHIVE[:40],
    ("mail", "a.eml"): b"no mail at all, only words\n",
    ("notebook", "a.ipynb"): b"[1, 2]",
    ("picture_format", "a.png"): b"\x89PNG\r\n\x1a\n and no more",
}


@pytest.mark.parametrize(("kind", "name"), FILES)
def test_a_file_that_is_not_read_says_why_in_both_languages(tmp_path: Path, kind: UnreadableKind, name: str) -> None:
    (tmp_path / "blob").write_bytes(FILES[kind, name])
    found = extract(tmp_path / "blob", name, "")
    assert (found, found.text) == (unreadable(kind), "")
    assert found.reason == omission_sentence(found.omissions)
    assert not omission_sentence(found.omissions, "zh").isascii()


def test_a_limit_is_named_in_both_languages(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"{\\rtf1" + b"{" * 20_000)
    found = extract(tmp_path / "blob", "a.rtf", "")
    assert found.reason == "The document is nested more than 10,000 levels deep."
    assert omission_sentence(found.omissions, "zh") == "文档的嵌套超过 10,000 层。"


def test_every_reason_has_a_sentence_in_both_languages_and_a_state() -> None:
    assert {f"unreadable.{kind}" for kind in UNREADABLE_KINDS} == {
        code for code in TEXTS.codes if code.startswith("unreadable.")
    }
    for kind in UNREADABLE_KINDS:
        assert state_of(kind) in get_args(ExtractionState)
        assert not missing_things(unreadable(kind).omissions)
