from dataclasses import dataclass, field
from typing import Any

import pytest

from graph.drive.sentences import TEXTS, error_sentence, grouped, localize, sentence, text

LEFT = {
    "summary": "Renamed 'a' to 'b'.",
    "reason": "it is in the trash already",
    "messages": {"reason": {"code": "in_trash_already", "params": {}, "zh": "它已经在回收站里"}},
}
REFUSAL = {
    "code": "state_conflict",
    "message": "'a' is in the trash.",
    "hint": "Restore it first.",
    "details": {},
    "messages": {
        "message": {"code": "in_trash", "params": {}, "zh": "“a”在回收站里。"},
        "hint": {"code": "in_trash.hint", "params": {}, "zh": "请先恢复它。"},
    },
}
ENGLISH = "state_conflict: 'a' is in the trash. Restore it first."


@dataclass
class Made:
    id: int
    action: str
    summary: str
    undone_by: int | None = None
    messages: dict[str, Any] = field(default_factory=dict[str, Any])


def made(number: int, action: str, name: str) -> Made:
    params = {"item": {"code": "item", "params": {"name": name}}}
    zh = {"code": f"change.{action}", "params": params, "zh": f"对“{name}”做了。"}
    return Made(number, action, f"Did it to '{name}'.", messages={"summary": zh})


def test_a_sentence_is_in_the_persons_language_and_an_old_one_in_english() -> None:
    change = made(1, "trash", "a.txt")
    assert (sentence(change, "en"), sentence(change, "zh")) == ("Did it to 'a.txt'.", "对“a.txt”做了。")
    assert sentence(Made(1, "trash", "Moved 'a.txt'."), "zh") == "Moved 'a.txt'."
    assert text(LEFT, "summary", "zh") == "Renamed 'a' to 'b'."
    assert text({}, "summary", "zh") == ""


def test_changes_of_a_kind_are_one_line_with_their_count_and_names() -> None:
    changes = [made(n, "trash", f"f{n}.txt") for n in range(7)]
    english, renamed = grouped([*changes, Made(7, "rename", "Renamed 'a' to 'b'.", undone_by=9)], "en")
    assert english.text == "Moved 7 items to the trash: 'f0.txt', 'f1.txt', 'f2.txt', 'f3.txt', 'f4.txt', …."
    assert (english.count, english.undone, english.change_ids) == (7, 0, tuple(range(7)))
    assert (renamed.text, renamed.undone) == ("Renamed 'a' to 'b'.", 1)
    (chinese,) = grouped(changes, "zh")
    assert chinese.text == "把 7 项移到了回收站：“f0.txt”、“f1.txt”、“f2.txt”、“f3.txt”、“f4.txt” 等。"


FORMS = {"name", "named", "named_and_more", "unnamed"}
ACTIONS = sorted({code.removeprefix("changes.") for code in TEXTS.codes} - FORMS)


@pytest.mark.parametrize("action", ACTIONS)
def test_every_kind_has_its_words(action: str) -> None:
    two = [made(1, action, "a"), made(2, action, "b")]
    assert "2" in grouped(two, "en")[0].text
    assert "2" in grouped(two, "zh")[0].text


def test_data_is_localized_in_its_lists_too() -> None:
    data = {"skipped": [LEFT, "as it is"], "preview": False}
    chinese = localize(data, "zh")
    reason = {"summary": "Renamed 'a' to 'b'.", "reason": "它已经在回收站里"}
    assert chinese == {"skipped": [reason, "as it is"], "preview": False}
    english = localize(data, "en")
    assert english is not None
    assert english["skipped"][0] == {"summary": "Renamed 'a' to 'b'.", "reason": "it is in the trash already"}
    assert localize(None, "zh") is None


def test_an_error_is_in_the_persons_language() -> None:
    assert error_sentence(REFUSAL, ENGLISH, "en") == ENGLISH
    assert error_sentence(REFUSAL, ENGLISH, "zh") == "state_conflict: “a”在回收站里。请先恢复它。"
    assert error_sentence({}, "no structure", "zh") == "no structure"


def test_the_model_gets_the_particulars_of_a_general_sentence() -> None:
    zh = {"code": "error.invalid_argument", "params": {}, "zh": "有一个参数无效。"}
    data = {"code": "invalid_argument", "message": "No x.", "hint": "Use y.", "messages": {"message": zh}}
    assert error_sentence(data, "", "zh") == "invalid_argument: 有一个参数无效。\nNo x. Use y."
