"""Source code and data: each passage under the names that lead to it, and each exactly where it stands in the file."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drive_server.knowledge.chunk import chunk
from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.readers.source.json import json_elements
from drive_server.knowledge.readers.source.sections import MAX_SECTIONS, code_elements, ini_elements, yaml_elements
from drive_server.knowledge.readers.source.xml import xml_elements
from tests.drive_server.knowledge.samples import LEAVE, LEAVE_ZH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from drive_server.knowledge.chunk import Chunk
    from drive_server.knowledge.text.elements import Element

READERS: list[Callable[[str, int], Iterator[Element]]] = [
    json_elements,
    xml_elements,
    code_elements,
    yaml_elements,
    ini_elements,
]


def passages(folder: Path, name: str, text: str) -> list[Chunk]:
    path = folder / "blob"
    path.write_text(text, newline="")
    extraction = extract(path, name, "")
    assert (extraction.state, extraction.text, extraction.exact) == ("ready", text, True)
    found = chunk(extraction)
    assert all(text[one.start : one.end] == one.text for one in found)
    return found


def placed(found: list[Chunk]) -> list[tuple[str, str]]:
    return [(one.heading, one.place) for one in found]


def test_the_values_of_json_are_under_their_keys(tmp_path: Path) -> None:
    data = {"company": "Acme", "offices": [{"city": "Berlin", "people": [{"note": LEAVE_ZH * 6}]}]}
    found = passages(
        tmp_path, "a.json", json.dumps({**data, "rules": {"leave": LEAVE * 2}}, indent=1, ensure_ascii=False)
    )
    assert placed(found) == [("offices › 0 › people › 0", "line=1-8"), ("rules", "line=13-14")]
    assert LEAVE_ZH in found[0].text


def test_json_in_one_line_is_cut_between_values_and_its_escapes_are_found(tmp_path: Path) -> None:
    people = [{"name": f"人{number}", "city": "北京"} for number in range(200)]
    found = passages(tmp_path, "a.json", json.dumps({"people": people}))
    assert len(found) > 5
    assert {one.heading for one in found} == {"people"}
    assert all(one.text.endswith('"}') for one in found)
    assert "人7" not in found[0].text
    assert '"name": "人7", "city": "北京"' in found[0].search_text


def test_each_large_record_of_json_lines_is_a_passage(tmp_path: Path) -> None:
    lines = [json.dumps({"id": number, "body": LEAVE * 4}) for number in range(3)]
    assert placed(passages(tmp_path, "a.jsonl", "\n".join(lines))) == [("", "line=1"), ("1", "line=2"), ("2", "line=3")]


@pytest.mark.parametrize("text", ['{"a": [1, 2,}', '{"a": [1, 2', '{"a": 1]', "]", "[" * 5000, "{'a': '}'}"])
def test_json_that_is_broken_is_read_as_it_stands(tmp_path: Path, text: str) -> None:
    assert "".join(one.text for one in passages(tmp_path, "a.json", text)) == text


def test_json_with_comments_is_read(tmp_path: Path) -> None:
    text = '{\n  // what it\'s for: {"\n  "compiler": {"target": "' + "x" * 120 + '"}, /* } */\n}\n'
    assert [one.heading for one in passages(tmp_path, "tsconfig.json", text)] == ["compiler"]


def test_a_deep_path_keeps_its_innermost_names(tmp_path: Path) -> None:
    value: object = LEAVE
    for number in range(30):
        value = {f"a rather long key {number}": value}
    found = passages(tmp_path, "a.json", json.dumps(value))[-1]
    assert found.heading.endswith("a rather long key 2 › a rather long key 1")
    assert len(found.heading) <= 200


def test_xml_is_under_its_elements_and_what_tells_them_apart(tmp_path: Path) -> None:
    text = (
        '<?xml version="1.0"?>\n<!-- <x> -->\n<book xmlns:d="u">\n'
        f'<d:chapter title="育儿假"><p>{LEAVE_ZH * 2}</p></d:chapter>\n'
        f"<chapter>{LEAVE}</chapter>\n<chapter>{LEAVE}</chapter>\n"
        "<img src='a>b'/></book>"
    )
    headings = [one.heading for one in passages(tmp_path, "a.xml", text)]
    assert headings == ["book › chapter 育儿假 › p", "book › chapter", "book › chapter[2]", "book"]


def test_yaml_is_under_its_keys(tmp_path: Path) -> None:
    text = (
        "version: 3\nservices:\n  web:\n    ports:\n    - 80\n    # why\n    environment:\n"
        f"      说明: {LEAVE_ZH * 2}\n      b: {LEAVE}\n  db:\n    note: |\n      {LEAVE}\n\n      {LEAVE}\nend: 1\n"
    )
    assert placed(passages(tmp_path, "a.yaml", text)) == [
        ("", "line=1"),
        ("services › web › environment", "line=2-9"),
        ("services › db › note", "line=10-14"),
        ("", "line=15"),
    ]


def test_toml_and_ini_are_under_their_sections(tmp_path: Path) -> None:
    text = 'name = "x"\n\n[tool.ruff]  # checks\nline-length = 120\n\n[[bin]]\nname = "数据"\n'
    assert placed(passages(tmp_path, "a.toml", text)) == [
        ("", "line=1"),
        ("tool.ruff", "line=3-4"),
        ("bin", "line=6-7"),
    ]


PYTHON = '''"""Invoices."""
import os


class Invoice(
    Base,
):
    """An invoice, which somebody has to pay within thirty days.

def no_function():
    """

    # What is to be paid.
    @property
    def total(self) -> int:
        text = """
at the margin
"""
        return sum(self.items)


async def load(
    key: str,
) -> Invoice:
    return await get(f"/{key}")


print(load("一"))
'''
JAVA = """package a;

/** Invoices. */
@Entity
public class Invoice<T> extends Base {
    @Override
    public int total(Map<String, Integer> rates) throws IOException {
        for (Item item : items) {
            sum += item.price();
        }
        return sum;
    }

    public Invoice(int amount)
    {
        this.amount = amount;
    }
}
"""
TYPESCRIPT = """export interface User { name: string }
export const load = async (id: string): Promise<User> => {
  return fetch(`
function no() {
`);
};
export default class Store {
  constructor(private readonly api: Api) {
    if (api) {
      start();
    }
  }
  async add(user: User): Promise<void> {
    this.users.push(user);
  }
}
"""
GO = """package main

// Repo keeps.
type Repo struct {
	db int
}

func (r *Repo) Save(x int) error {
	return nil
}
"""
C = """#include <a.h>

int
main(int argc, char **argv)
{
#ifdef X
  run();
#endif
  return 0;
}

static void f(void) {
}
"""
RUST = "pub struct P;\n\nimpl<T> fmt::Display for P {\n    fn fmt(&self, f: &mut F<'_>) -> R {\n        w()\n    }\n}\n"
RUBY = "module A\n  class B < C\n    def total?\n      1\n    end\n  end\nend\n"
SHELL = "set -e\ndeploy() {\n  if true; then\n    run\n  fi\n}\n"
SQL = "CREATE TABLE IF NOT EXISTS pay (\n  id INT\n);\nSELECT 1;\n"
DECLARED = [
    ("a.py", PYTHON, [("", "1-2"), ("Invoice", "5-11"), ("Invoice › total", "13-19"), ("load", "22-25"), ("", "28")]),
    ("a.java", JAVA, [("", "1"), ("Invoice › total", "3-12"), ("Invoice › Invoice", "14-18")]),
    ("a.ts", TYPESCRIPT, [("User", "1"), ("load", "2-6"), ("Store › constructor", "7-12"), ("Store › add", "13-16")]),
    ("a.go", GO, [("", "1"), ("Repo", "3-6"), ("Repo.Save", "8-10")]),
    ("a.c", C, [("", "1-3"), ("main", "4-10"), ("f", "12-13")]),
    ("a.rs", RUST, [("P", "1"), ("P › fmt", "3-7")]),
    ("a.rb", RUBY, [("A › B › total?", "1-7")]),
    ("a.sh", SHELL, [("", "1"), ("deploy", "2-6")]),
    ("a.sql", SQL, [("pay", "1-3"), ("", "4")]),
]


@pytest.mark.parametrize(("name", "text", "expected"), DECLARED)
def test_code_is_under_its_classes_and_functions(
    tmp_path: Path, name: str, text: str, expected: list[tuple[str, str]]
) -> None:
    assert placed(passages(tmp_path, name, text)) == [(heading, f"line={lines}") for heading, lines in expected]


def test_code_with_windows_line_ends_and_tabs_is_read_alike(tmp_path: Path) -> None:
    text = JAVA.replace("    ", "\t").replace("\n", "\r\n")
    assert placed(passages(tmp_path, "a.java", text)) == placed(passages(tmp_path, "b.java", JAVA))


def test_of_very_many_functions_the_small_ones_share_passages() -> None:
    text = "def f(): pass\n" * (MAX_SECTIONS + 1)
    assert {element.path for element in code_elements(text, len(text))} == {()}


@pytest.mark.parametrize("reader", READERS)
@given(text=st.text(st.sampled_from("ab:{}[]<>/=\"'\\`#-,() \t\r\n一")) | st.text(st.sampled_from('<a></>{}[]",: ')))
def test_elements_are_in_order_and_as_they_stand_in_the_text(
    reader: Callable[[str, int], Iterator[Element]], text: str
) -> None:
    elements = list(reader(text, len(text)))
    assert all(text[element.start : element.end] == element.text for element in elements)
    assert all(before.end <= after.start for before, after in itertools.pairwise(elements))


# A busy machine may take longer than Hypothesis allows; what is slow by itself is tested below.
@settings(deadline=None)
@pytest.mark.parametrize("reader", [code_elements, yaml_elements, ini_elements])
@given(
    text=st.text(st.sampled_from("ab:{}[]()\"'`#- \t\r\n一"))
    | st.lists(st.sampled_from(PYTHON.splitlines(keepends=True))).map("".join)
)
def test_lines_of_code_lose_nothing_but_white_space(reader: Callable[[str, int], Iterator[Element]], text: str) -> None:
    elements = list(reader(text, len(text)))
    assert "".join("".join(element.text.split()) for element in elements) == "".join(text.split())


HOSTILE = [
    '"', '"\\', '"""', "'''", "/*", "`\n",
    "[", "{", '{"a":', '{"a":1},', "<", "<a ", '<a "', "<!--", "<![", "<!D[", "<a>",
    "def f(): pass\n", "impl<<<<<<<<\n", "f((((((((((((((", "int a b c d(\n",
    "func (a (a (a \n", "a:\n", "- ", "[a\n", "[a]\n", "@x\n",
]  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("piece", HOSTILE)
def test_what_is_made_to_be_slow_is_not(reader: Callable[[str, int], Iterator[Element]], piece: str) -> None:
    """Each reader is linear: of a quadratic one this would take hours, and the test's time limit ends it."""
    text = piece * (300_000 // len(piece))
    assert sum(1 for _ in reader(text, len(text))) <= len(text)
