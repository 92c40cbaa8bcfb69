"""The promises that `docs/PLANS.md` makes about plans: each has its test."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
ROWS: Final = re.findall(r"^\| .+ \| `(.+\.py)::(\w+)` \|$", (ROOT / "docs" / "PLANS.md").read_text(), re.MULTILINE)


def test_there_are_as_many_as_the_page_says() -> None:
    assert len(ROWS) == len(set(ROWS)) == 21


@pytest.mark.parametrize(("path", "name"), ROWS)
def test_each_promise_has_its_test(path: str, name: str) -> None:
    assert re.search(rf"^(?:async )?def {name}\(", (ROOT / "tests" / path).read_text(), re.MULTILINE)
