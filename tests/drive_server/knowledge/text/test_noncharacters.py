from __future__ import annotations

import pytest

from drive_server.knowledge.text.elements import Part, join
from drive_server.knowledge.text.noncharacters import replace_noncharacters, without_noncharacters


@pytest.mark.parametrize("code", [0x0, 0x1B, 0x81, 0xD800, 0xFDD0, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF])
def test_code_points_that_are_no_characters_get_into_no_text(code: int) -> None:
    assert without_noncharacters(f"inter{chr(code)}national") == "international"
    assert replace_noncharacters(f"inter{chr(code)}national") == "inter\ufffdnational"
    assert join([Part("text", f"inter{chr(code)}national"), Part("text", chr(code))]).text == "international"


def test_letters_of_all_scripts_tabs_and_line_ends_stay() -> None:
    text = "naïve 育儿假 שלום 👍\u200d\t\r\n\u00ad\ue000\ufffd"
    assert without_noncharacters(text) == replace_noncharacters(text) == text
    assert without_noncharacters("one\x0btwo\x0cthree") == "one two three"
    assert replace_noncharacters("one\x0btwo\x0cthree") == "one\x0btwo\x0cthree"
