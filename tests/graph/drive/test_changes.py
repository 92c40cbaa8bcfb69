from dataclasses import dataclass

import pytest

from graph.drive.changes import KINDS, grouped, happens, reason, sentence


@dataclass
class Made:
    id: int
    action: str
    summary: str
    undone_by: int | None = None


def test_in_english_a_change_is_what_the_journal_says() -> None:
    assert sentence(Made(1, "trash", "Moved 'a.txt' to the trash."), "en") == "Moved 'a.txt' to the trash."


@pytest.mark.parametrize(
    ("action", "summary", "told"),
    [
        ("trash", "Moved 'a.txt' to the trash, from where it can be restored.", "把“a.txt”移到了回收站。"),
        ("rename", "Renamed 'a.txt' to 'b.txt'.", "把“a.txt”重命名为“b.txt”。"),
        ("create_folder", "Created the folder 'Mum's 照片 📷' in the root folder.", "新建了文件夹“Mum's 照片 📷”。"),
        ("share", "Shared 'a.txt' with eve@example.com as editor.", "把“a.txt”共享给了eve@example.com。"),
        ("empty_trash", "Deleted 3 things in the trash for good.", "清空了回收站。"),
        ("something new", "Did it to 'a.txt'.", "改动了“a.txt”。"),
        ("trash", "no name at all", "把一项内容移到了回收站。"),
    ],
)
def test_in_chinese_it_is_made_anew(action: str, summary: str, told: str) -> None:
    assert sentence(Made(1, action, summary), "zh") == told


def test_changes_of_a_kind_are_one_line_with_their_count_and_names() -> None:
    made = [Made(n, "trash", f"Moved 'f{n}.txt' to the trash.") for n in range(7)]
    made.append(Made(7, "rename", "Renamed 'a' to 'b'.", undone_by=9))
    english, renamed = grouped(made, "en")
    assert english.text == "Moved 7 items to the trash: 'f0.txt', 'f1.txt', 'f2.txt', 'f3.txt', 'f4.txt', …."
    assert (english.count, english.undone, english.change_ids) == (7, 0, tuple(range(7)))
    assert (renamed.text, renamed.undone) == ("Renamed 'a' to 'b'.", 1)
    chinese, _ = grouped(made, "zh")
    assert chinese.text == "把 7 项移到了回收站：“f0.txt”、“f1.txt”、“f2.txt”、“f3.txt”、“f4.txt” 等。"


@pytest.mark.parametrize("action", sorted(KINDS))
def test_every_kind_has_its_words(action: str) -> None:
    two = [Made(1, action, "'a' eve@example.com."), Made(2, action, "'b'.")]
    assert "2" in grouped(two, "en")[0].text
    assert "2" in grouped(two, "zh")[0].text
    assert "{" not in sentence(two[0], "zh")


def test_why_something_stays_is_told_in_the_persons_language() -> None:
    left = "changed since by bob@example.com at 2026-11-21 09:30 UTC"
    assert reason(left, "en") == left
    assert reason(left, "zh") == "此后被 bob@example.com 于 2026-11-21 09:30 UTC 改动过"
    assert reason("it is in the trash already", "zh") == "它已经在回收站里"
    assert reason("a reason of tomorrow", "zh") == "a reason of tomorrow"


def test_what_happens_to_an_item_is_told_in_the_persons_language() -> None:
    assert happens("is no longer shared with eve@example.com", "zh") == "不再共享给 eve@example.com"
    assert happens("goes to the trash", "en") == "goes to the trash"
    assert happens("something else", "zh") == "something else"
