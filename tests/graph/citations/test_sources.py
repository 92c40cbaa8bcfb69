"""The versions of files that a result shows."""

from graph.citations.sources import Source, sources_of, without_addresses

FILE = {"id": "f1", "name": "a.md", "path": "/a.md", "version": 7}


def source(version: int | None, *, read: bool) -> Source:
    return {"file_id": "f1", "name": "a.md", "path": "/a.md", "version": version, "read": read}


def test_a_hit_is_of_its_own_version_and_a_name_of_none_that_was_read() -> None:
    passage = {"file": FILE, "text": "words", "version": 3}
    name = {"file": FILE, "text": "a.md", "version": None}
    assert sources_of({"hits": [passage, passage, name]}) == [source(3, read=True), source(7, read=False)]


def test_nothing_found_is_not_the_same_as_nothing_looked_for() -> None:
    assert sources_of({"hits": []}) == []
    assert sources_of({"items": [FILE]}) is None
    assert sources_of({"results": [{"file_id": "f1"}]}) is None
    assert sources_of({}) is None
    assert sources_of(None) is None


def test_a_text_and_what_many_files_said_are_sources() -> None:
    finding = {"file_id": "f1", "path": "/a.md", "version": 2, "answer": "yes", "quote": "words"}
    unread = {"file_id": None, "path": "/b.md", "version": None, "answer": "", "quote": ""}
    assert sources_of({"file": FILE, "text": "words", "version": 2}) == [source(2, read=True)]
    assert sources_of({"coverage": "1 of 2", "results": [finding, unread]}) == [source(2, read=True)]


def test_addresses_of_passages_are_left_out_and_nothing_else() -> None:
    hit = {"file": FILE, "text": "words", "uri": "drive://files/f1", "address": "/f/f1"}
    shown = without_addresses({"hits": [hit], "uri": "drive://results/1", "cursor": None})
    assert shown == {"hits": [{"file": FILE, "text": "words"}], "uri": "drive://results/1", "cursor": None}
    assert without_addresses(hit) == {"file": FILE, "text": "words"}
    assert without_addresses(None) is None
