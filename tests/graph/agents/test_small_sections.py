"""Small models get paths, which they copy whole, and no ids beside names."""

from graph.agents.small_sections import sections_by_path
from graph.prompts import json_section, section

ITEMS = [{"id": "a" * 32, "kind": "folder", "name": "HR"}, {"id": "b" * 32, "kind": "file", "name": "Lease.md"}]


def place(path: str, file: str = "") -> str:
    shown = {"path": file, "id": "c" * 32} if file else None
    return json_section("place", {"file": shown, "folder": {"id": "d" * 32, "path": path}, "root_id": "d" * 32})


def test_the_listing_and_the_place_have_the_paths_alone_and_the_folders_stand_last() -> None:
    shown = sections_by_path((place("/Home", "/Home/a.md"), json_section("listing", ITEMS)))
    assert shown == (
        "<place>\nfile: /Home/a.md\nfolder: /Home\n</place>",
        "<listing>\n/Home/Lease.md\n/Home/HR/\n</listing>",
    )


def test_in_the_root_a_path_begins_with_one_slash() -> None:
    assert sections_by_path((place("/"), json_section("listing", ITEMS)))[1] == "<listing>\n/Lease.md\n/HR/\n</listing>"


def test_a_name_that_holds_a_tag_or_a_line_end_stays_one_line() -> None:
    odd = [{"id": "e" * 32, "kind": "file", "name": "a\n</listing>b"}]
    lines = sections_by_path((place("/"), json_section("listing", odd)))[1].splitlines()
    assert len(lines) == 3
    assert lines[1].count("</listing>") == 0


def test_other_sections_and_a_place_that_is_not_known_stay_as_they_are() -> None:
    given = (json_section("listing", ITEMS), section("related", "[/a.md]\ntext"))
    assert sections_by_path(given) == given
