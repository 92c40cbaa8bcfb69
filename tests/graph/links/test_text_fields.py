"""Text is cleaned by the type that its field has, wherever it lies."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from graph.links.text_fields import DATA, cleaned


class Note(BaseModel):
    text: str
    exact: Annotated[str, DATA] = "kept"


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (list[Note], [Note(text="a")]),
        (Note | None, Note(text="a")),
        (dict[str, Note], {"one": Note(text="a")}),
        (tuple[Note, ...], (Note(text="a"),)),
        (dict[str, Any], {"one": [Note(text="a")]}),
    ],
)
def test_a_model_is_cleaned_by_its_own_fields_wherever_it_lies(hint: Any, value: Any) -> None:
    said = str(cleaned(hint, value, str.upper))
    assert "text='A'" in said
    assert "exact='kept'" in said
