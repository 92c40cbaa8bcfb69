from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from drive_server.knowledge.media_types import is_plain_text, media_type_of
from drive_server.knowledge.readers.extract import extract

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction

PICTURE = "iVBORw0KGgo" + "A" * 12_000


def read(folder: Path, notebook: Any) -> Extraction:
    (folder / "blob").write_text(json.dumps(notebook))
    return extract(folder / "blob", "yield.ipynb", "")


def code(*outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": ["total = 41\n", "print(total)"], "outputs": list(outputs)}


def test_prose_code_and_what_it_printed_are_read_without_pictures(tmp_path: Path) -> None:
    prose = {"cell_type": "markdown", "source": ["# Yield\n", "of the mill ![](data:image/png;base64," + PICTURE + ")"]}
    drawn = {"output_type": "display_data", "data": {"image/png": PICTURE, "text/plain": ["<Figure size 640x480>"]}}
    printed = {"output_type": "stream", "text": ["41\n"]}
    extraction = read(tmp_path, {"nbformat": 4, "cells": [prose, code(printed, drawn)]})
    assert [(one.kind, one.text) for one in extraction.elements] == [
        ("title", "Yield"),
        ("text", "of the mill ![]()"),
        ("code", "total = 41\nprint(total)"),
        ("code", "41"),
    ]
    assert extraction.reason == "Not read: 2 pictures without text."


def test_a_result_an_error_and_the_worksheets_of_old_notebooks_are_read(tmp_path: Path) -> None:
    result = {"output_type": "execute_result", "data": {"text/html": "<b>6</b>", "text/plain": "6"}}
    error = {"output_type": "error", "ename": "KeyError", "evalue": "'mill'", "traceback": ["\x1b[0;31mKeyError"]}
    assert read(tmp_path, {"cells": [code(result, error)]}).text.endswith("6\n\nKeyError: 'mill'")
    old = {"cell_type": "code", "input": "1 + 1", "outputs": [{"output_type": "pyout", "text": "2"}]}
    heading = {"cell_type": "heading", "level": 2, "source": "Sums"}
    assert read(tmp_path, {"nbformat": 3, "worksheets": [{"cells": [heading, old]}]}).text == "Sums\n\n1 + 1\n\n2"


def test_a_file_that_is_no_notebook_is_said_to_be_damaged(tmp_path: Path) -> None:
    for content in (b"{", b"[1]", b"\0\1", b"[" * 100_000):
        (tmp_path / "blob").write_bytes(content)
        assert "no notebook" in extract(tmp_path / "blob", "a.ipynb", "").reason
    assert read(tmp_path, {"cells": [1, {"cell_type": "code", "outputs": "x"}, {}], "worksheets": None}).text == ""


def test_a_notebook_can_be_edited_as_text_and_is_read_by_its_cells() -> None:
    assert media_type_of("a.ipynb") == "application/x-ipynb+json"
    assert not is_plain_text("application/x-ipynb+json")
