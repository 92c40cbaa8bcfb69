import pytest

from tests.web.page_files import LIMIT_BYTES, first_load


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_view_of_both_sides_is_small(language: str) -> None:
    sizes = first_load(language)
    assert sum(sizes.values()) < LIMIT_BYTES, dict(sorted(sizes.items(), key=lambda one: -one[1])[:15])
    assert {"files/pane.js", "chat/pane.js"} <= set(sizes)
