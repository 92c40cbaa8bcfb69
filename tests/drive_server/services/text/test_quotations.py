from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.services.text.quotations import QuotableText


def quoted(text: str, quote: str, near: tuple[int, int] | None = None) -> str | None:
    """Return what stands at the place where the quotation was found."""
    found = QuotableText(text).find(quote, near)
    return text[found.start : found.end] if found else None


@pytest.mark.parametrize(
    ("text", "quote", "stands"),
    [
        ("Staff get\n 25  days of leave.", "Staff get 25 days", "Staff get\n 25  days"),
        ("He said “yes, ‘now’”.", "He said \"yes, 'now'\"", "He said “yes, ‘now’”"),
        ("他说「可以」。", "他说“可以”", "他说「可以」"),
        ("员工可以\n休 １２ 周。", "员工可以休12周", "员工可以\n休 １２ 周"),
        ("（ＡＢＣ－１）", "(ABC-1)", "（ＡＢＣ－１）"),
        ("the cafe\u0301 is open", "café is", "cafe\u0301 is"),
        ("so\u200bft hy\u00adphen", "soft hyphen", "so\u200bft hy\u00adphen"),
        ("name | amount\nAnn | 0.5", "name | amount Ann | 0.5", "name | amount\nAnn | 0.5"),
        ("שלום \u202bעולם\u202c abc", "שלום עולם abc", "שלום \u202bעולם\u202c abc"),
        ("ok 👩‍👩‍👧 family", "👩‍👩‍👧 family", "👩‍👩‍👧 family"),
        ("a.*(b|c)+$ and so on", "a.*(b|c)+$", "a.*(b|c)+$"),
        ("<b>bold</b> & more", "<b>bold</b> & more", "<b>bold</b> & more"),
        ("Notice is **30 days** here", "Notice is 30 days here", "Notice is **30 days** here"),
        ("请**务必**提交材料", "请务必提交材料", "请**务必**提交材料"),
        ("Run `npm test` first", "Run npm test first", "Run `npm test` first"),
        ("See [the lease](/a/b.md) for it", "See the lease for it", "See [the lease](/a/b.md) for it"),
        ("See [the lease](/a/b.md) for it", "[the lease] (/a/b.md) for it", "the lease](/a/b.md) for it"),
        ("Staff get 25 days of leave", "Staff get 25 days of lea…", "Staff get 25 days of"),
        ("Staff get 25 days of leave and more", "…ff get 25 days of leave an...", "get 25 days of leave"),
    ],
)
def test_what_differs_in_form_only_stands(text: str, quote: str, stands: str) -> None:
    assert quoted(text, quote) == stands


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Staff get 25 days.", "Staff get 26 days"),
        ("Staff get 25 days.", "staff get 25 days"),
        ("員工可以休十二週", "员工可以休十二周"),
        ("it is now here", "it is nowhere"),
        ("she will pay", "he will pay"),
        ("within 110 days", "10 days"),
        ("1.5% interest", "5% interest"),
        ("it costs 1,000", "it costs 1"),
        ("at most 十五天", "at most 五十天"),
        ("Not allowed – ever", "Not allowed - ever"),
        ("within 110 days", "10 days…"),
        ("2*3 is six", "23 is six"),
        ("2**3 is eight", "23 is eight"),
        ("list[1] is", "list1 is"),
        ("anything", "anyth…"),
        ("anything", ""),
        ("anything", " \n\t"),
        ("anything", "..."),
        ("", "anything"),
        ("short", "x" * 100_000),
    ],
)
def test_other_words_do_not(text: str, quote: str) -> None:
    assert quoted(text, quote) is None


def test_words_that_were_left_out_are_passed_over_in_order() -> None:
    text = "First comes the notice. Then nothing happens for a while. At last the leave begins."
    assert quoted(text, "First comes the notice. ... the leave begins") == text[:-1]
    assert quoted(text, "… Then nothing happens […] the leave begins. …") == text[24:]
    assert quoted(text, "the leave begins ... First comes the notice") is None
    assert quoted("员工可以休十二周。需要提前申请。由主管批准。", "员工可以休十二周……由主管批准") == (
        "员工可以休十二周。需要提前申请。由主管批准"
    )


def test_single_words_can_not_be_put_together() -> None:
    assert quoted("You may not take this leave at all.", "You may ... take ... leave") is None


def test_an_ellipsis_of_the_text_itself_is_quoted() -> None:
    assert quoted("Well... maybe later", "Well... maybe") == "Well... maybe"


def test_of_several_places_the_one_that_was_named_is_found() -> None:
    text = "ten days.\n" * 50
    found = QuotableText(text).find("ten days", (100, 109))
    assert found is not None
    assert found.start == 100
    elsewhere = QuotableText(text).find("ten days", (5_000, 5_001))
    assert elsewhere is not None
    assert elsewhere.start == 0


def test_a_part_of_a_word_does_not_hide_the_word_behind_it() -> None:
    assert QuotableText("tender ten").find("ten") == QuotableText("tender ten").find(" ten ")
    assert quoted("tender ten", "ten") == "ten"


def test_a_text_of_one_letter_ends() -> None:
    assert quoted("a" * 300_000, "a" * 1_000) is None


@given(st.text(alphabet='abC é中文。，,. \n\t\u3000“"１2😀', max_size=60), st.data())
def test_every_stretch_of_whole_words_is_found_as_it_stands(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = text[start:end].strip()
    around = text[:start][-1:] + text[end:][:1]
    if not quote or any(character.isalnum() or character in ".,，" for character in around):
        return
    found = QuotableText(text).find(quote)
    assert found is not None
    assert QuotableText(text[found.start : found.end]).find(quote) is not None
    assert QuotableText(quote).find(text[found.start : found.end]) is not None
