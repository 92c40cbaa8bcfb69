"""The selection of the files that a call over many files reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import InvalidInputError, MissingScopeError, NotFoundError
from drive_server.services.map_reduce.selection import Choice, Chosen, FileSelector
from drive_server.services.search.filters import SearchFilter
from tests.drive_server.actors import with_scopes

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


@pytest.fixture
async def chooser(drive: Drive, alice: Actor) -> FileSelector:
    await drive.files.create_folder(alice, "root", "Top")
    await drive.files.create_folder(alice, "/Top", "内")
    for path, text in (
        ("/a.md", "apples"),
        ("/Top/b.md", "bees"),
        ("/Top/c.txt", "bees, too"),
        ("/Top/内/d.md", "蜜蜂"),
    ):
        folder, _, name = path.rpartition("/")
        await drive.documents.create(alice, folder or "/", name, text)
    await drive.documents.create(alice, "/Top", "gone.md", "bees")
    await drive.files.trash(alice, "/Top/gone.md")
    await drive.ingester.drain()
    return FileSelector(drive.database, drive.search)


def labels(chosen: Chosen) -> list[str]:
    return [file.label for file in chosen.files]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"folder": "root"}, ["/Top/b.md", "/Top/c.txt", "/Top/内/d.md", "/a.md"]),
        ({"folder": "/Top"}, ["/Top/b.md", "/Top/c.txt", "/Top/内/d.md"]),
        ({"folder": "/Top", "is_deep": False}, ["/Top/b.md", "/Top/c.txt"]),
        ({"folder": "/Top", "only": SearchFilter(types=("md",))}, ["/Top/b.md", "/Top/内/d.md"]),
        ({"only": SearchFilter(types=(".txt",))}, ["/Top/c.txt"]),
        ({"only": SearchFilter(owner="shared")}, []),
        ({"query": "蜜蜂"}, ["/Top/内/d.md"]),
        ({"query": "b.md"}, ["/Top/b.md"]),
        ({"query": "apples", "folder": "/Top"}, []),
    ],
)
async def test_files_are_those_in_the_folder_that_fit_without_the_trash(
    chooser: FileSelector, alice: Actor, choice: dict[str, Any], expected: list[str]
) -> None:
    chosen = await chooser.choose(alice, Choice(**choice))
    assert labels(chosen) == expected
    assert chosen.fitting == len(expected)


async def test_of_too_many_it_is_said_how_many_there_are(drive: Drive, chooser: FileSelector, alice: Actor) -> None:
    await drive.documents.write_text(alice, "/Top/c.txt", "bees, again")
    await drive.ingester.drain()

    newest = await chooser.choose(alice, Choice(folder="root", most=1))
    found = await chooser.choose(alice, Choice(query="bees", most=1))
    named = await chooser.choose(alice, Choice(refs=("/a.md", "/Top/b.md", "/a.md"), most=1))

    assert (labels(newest), newest.fitting) == (["/Top/c.txt"], 4)
    assert (len(found.files), found.fitting) == (1, None)
    assert (labels(named), named.fitting) == (["/a.md"], 2)


async def test_what_is_named_is_taken_as_it_is_and_known_ids_get_their_paths(
    drive: Drive, chooser: FileSelector, alice: Actor, bob: Actor
) -> None:
    known = (await drive.files.get(alice, "/Top/b.md")).id
    theirs = (await drive.documents.create(bob, "root", "secret.md", "x")).value.id
    chosen = await chooser.choose(alice, Choice(refs=(known, theirs, "/nowhere")))
    assert labels(chosen) == ["/Top/b.md", theirs, "/nowhere"]


@pytest.mark.parametrize(
    "choice",
    [
        Choice(),
        Choice(refs=("/a.md",), folder="root"),
        Choice(refs=("/a.md",), query="x"),
        Choice(query="x", is_deep=False),
    ],
)
async def test_a_choice_that_is_none_or_two_is_refused(chooser: FileSelector, alice: Actor, choice: Choice) -> None:
    with pytest.raises(InvalidInputError):
        await chooser.choose(alice, choice)


async def test_somebody_elses_folder_is_as_one_that_never_was(chooser: FileSelector, bob: Actor) -> None:
    with pytest.raises(NotFoundError):
        await chooser.choose(bob, Choice(folder="/Top"))


async def test_without_the_scope_to_read_nothing_is_looked_up(chooser: FileSelector, alice: Actor) -> None:
    with pytest.raises(MissingScopeError):
        await chooser.choose(with_scopes(alice, Scope.WRITE), Choice(folder="root"))
