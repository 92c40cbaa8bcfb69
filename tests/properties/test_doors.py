"""Four people do whatever comes to mind, by MCP, HTTP and WebDAV; each way shows the drive as a simple model says.

`SOAK_EXAMPLES` is how many sequences there are, `SOAK_SEED` begins another series: `make soak` does many.
"""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any, Literal, get_args

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from drive_server.kernel.settings import DriveSettings
from tests.drive_server.http.items import DRIVE, FILES, ITEMS
from tests.drive_server.http.service import running
from tests.properties.doors import Answer, Way
from tests.properties.small_drive import Choice, Node, RefusedError, SmallDrive
from tests.properties.two_drives import (
    EDITOR,
    OWNER,
    ROLES,
    STRANGER,
    VIEWER,
    TwoDrives,
    step,
    with_files,
    with_trash,
)

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

EXAMPLES = int(os.environ.get("SOAK_EXAMPLES", "2"))
SEED = os.environ.get("SOAK_SEED", "soak")

people = (OWNER, OWNER, OWNER, OWNER, EDITOR, EDITOR, EDITOR, VIEWER, STRANGER)
ways: tuple[Way, ...] = get_args(Way)
writing_ways = ("mcp", "http", "tus", "dav", "dav", "dav")
indoors = ("mcp", "http")
names = ("a.md", "b.md", "报告.md")
texts = ("", "one", "two and twenty bytes.", "三三三三三三三三三三", "five and thirty bytes long, as it is")
choices = ("fail", "fail", "rename", "replace")
picks = range(200)
lists = [(one, one * 7 % 199, one * 31 % 197)[: 1 + one % 3] for one in picks]
bulk_actions = ("move", "copy", "trash", "restore", "delete")


class Doors(TwoDrives):
    """Has the steps. `way` is by what way somebody does it, `item` and `parent` choose among what is there."""

    def begin(self) -> None:
        """Share a folder with the editor, another one with the viewer, and nothing with the stranger."""
        for name, friend, role in (("a.md", EDITOR, 2), ("b.md", VIEWER, 1)):
            self.make_folder(OWNER, "http", 0, name, "fail")
            self.give(OWNER, "http", [*self.small.nodes][-1], friend, role)

    @step(who=people, way=ways, parent=picks, name=names, choice=("fail", "rename"))
    def make_folder(self, who: int, way: Way, parent: int, name: str, choice: Choice) -> None:
        email, before = self.emails[who], self.small
        person, ref = self.persons[email], self.pick(email, parent, "folder")
        path = self.path(email, ref)
        if way == "dav" and path is not None:
            choice, real = "fail", person.send("MKCOL", f"{path}/{name}")
        elif way == "mcp":
            real = person.call("create_folder", name=name, folder_id=ref, on_conflict=choice)
        else:
            way, body = "http", {"kind": "folder", "name": name, "parent_id": ref, "on_conflict": choice}
            real = person.ask("POST", ITEMS, json=body)
        done = self.both(email, lambda small: small.before_creation(email, ref, name, choice), real)
        if done:
            value, named = done
            self.small = copy.deepcopy(self.small)
            self.small.add(value.get("id") or self.run(person.child(ref, named)), "folder", named, ref)
            self.settle(email, way, before)

    @step(weight=5, who=people, way=writing_ways, parent=picks, name=names, text=texts)
    def make_file(self, who: int, way: Way | Literal["tus"], parent: int, name: str, text: str) -> None:
        email, before = self.emails[who], self.small
        person, ref = self.persons[email], self.pick(email, parent, "folder")
        path = self.path(email, ref)
        choice: Choice = ("fail", "rename", "replace")[parent % 3]
        if way == "dav" and path is not None:
            choice, real = "replace", person.send("PUT", f"{path}/{name}", text.encode())
        elif way == "mcp":
            real = person.call("create_file", name=name, content=text, folder_id=ref, on_conflict=choice)
        elif way == "tus":
            real = person.upload(ref, name, text, choice)
        else:
            way, params = "http", {"name": name, "parent_id": ref, "on_conflict": choice}
            real = person.ask("POST", FILES, params=params, content=text.encode())
        announced = way != "mcp"
        done = self.both(
            email, lambda small: small.before_file(email, ref, name, text, choice, announced=announced), real
        )
        if done:
            value, (named, replaced) = done
            made = value.get("id") or self.run(person.child(ref, named))
            assert made == replaced or not replaced
            if not replaced:
                self.small = copy.deepcopy(self.small)
                self.small.add(made, "file", named, ref, text)
            self.settle(email, "http" if way == "tus" else way, before)

    @step(with_files, who=people, way=ways, item=picks, text=texts)
    def write(self, who: int, way: Way, item: int, text: str) -> None:
        email, before = self.emails[who], self.small
        person, ref = self.persons[email], self.pick(email, item, "file")
        path = self.path(email, ref)
        if way == "dav" and path:
            real = person.send("PUT", path, text.encode())
        elif way == "mcp":
            real = person.call("write_file", file_id=ref, content=text)
        else:
            way, real = "http", person.ask("PUT", f"{FILES}/{ref}/content", content=text.encode())
        if self.both(email, lambda small: small.write(email, ref, text, announced=way != "mcp"), real):
            self.settle(email, way, before)

    @step(with_files, who=people, way=indoors, item=picks, number=range(1, 5))
    def restore_version(self, who: int, way: Way, item: int, number: int) -> None:
        email, before = self.emails[who], self.small
        person, ref = self.persons[email], self.pick(email, item, "file")
        real = (
            person.call("restore_version", file_id=ref, version=number)
            if way == "mcp"
            else person.ask("POST", f"{FILES}/{ref}/versions/{number}/restore")
        )
        if self.both(email, lambda small: small.restore_version(email, ref, number), real):
            self.settle(email, way, before)

    @step(who=people, way=indoors, item=picks, name=names, choice=choices)
    def rename(self, who: int, way: Way, item: int, name: str, choice: Choice) -> None:
        email, before = self.emails[who], self.small
        person, ref = self.persons[email], self.pick(email, item)
        real = (
            person.call("rename_item", item_id=ref, name=name, on_conflict=choice)
            if way == "mcp"
            else person.ask("PATCH", f"{ITEMS}/{ref}", json={"name": name, "on_conflict": choice})
        )
        if self.both(email, lambda small: small.rename(email, ref, name, choice), real):
            self.settle(email, way, before)

    @step(who=people, way=ways, item=picks, parent=picks, choice=choices, name=(None, *names))
    def move(self, who: int, way: Way, item: int, parent: int, choice: Choice, name: str | None) -> None:
        email, before = self.emails[who], self.small
        ref, to = self.pick(email, item), self.pick(email, parent, "folder")
        source, folder = self.path(email, ref), self.path(email, to)
        if way == "dav" and source and folder is not None:
            self.move_by_dav(email, ref, to, name or self.small.nodes[ref].name, overwrite=choice != "fail")
            return
        person = self.persons[email]
        if way == "mcp":
            name, real = None, person.call("move_item", item_id=ref, folder_id=to, on_conflict=choice)
        else:
            way, body = "http", {"parent_id": to, "on_conflict": choice} | ({"name": name} if name else {})
            real = person.ask("PATCH", f"{ITEMS}/{ref}", json=body)
        if self.both(email, lambda small: small.move(email, ref, to, choice, name), real):
            self.settle(email, way, before)

    @step(with_files, weight=4, who=people, item=picks, name=names)
    def save_as_editors_do(self, who: int, item: int, name: str) -> None:
        """Move a file over another one in its folder, by WebDAV: a draft, or one with a life of its own."""
        email = self.emails[who]
        ref = self.pick(email, item, "file")
        parent = self.small.nodes[ref].parent or ""
        if self.path(email, ref) and self.path(email, parent) is not None:
            self.move_by_dav(email, ref, parent, name, overwrite=True)

    def move_by_dav(self, email: str, ref: str, to: str, name: str, *, overwrite: bool) -> None:
        before = self.small
        real = self.by_dav("MOVE", email, ref, to, name, overwrite=overwrite)
        if self.both(email, lambda small: small.dav_move(email, ref, to, name, overwrite=overwrite), real):
            self.settle(email, "dav", before)

    def by_dav(
        self, method: str, email: str, ref: str, to: str, name: str, *, overwrite: bool
    ) -> Coroutine[Any, Any, Answer]:
        dav = self.persons[email].dav
        address = str(dav.http.base_url).rstrip("/") + dav.address(f"{self.path(email, to)}/{name}")
        given = {"Destination": address, "Overwrite": "T" if overwrite else "F"}
        return self.persons[email].send(method, self.path(email, ref) or "/", **given)

    @step(who=people, way=ways, item=picks, parent=picks, choice=choices, name=(None, *names))
    def copy(self, who: int, way: Way, item: int, parent: int, choice: Choice, name: str | None) -> None:
        email, before = self.emails[who], self.small
        person, ref, to = self.persons[email], self.pick(email, item), self.pick(email, parent, "folder")
        source, folder = self.path(email, ref), self.path(email, to)
        any_kind = bool(way == "dav" and source and folder is not None)
        if any_kind:
            name, choice = name or self.small.nodes[ref].name, "fail" if choice == "fail" else "replace"
            real = self.by_dav("COPY", email, ref, to, name, overwrite=choice == "replace")
        elif way == "mcp":
            real = person.call("copy_item", item_id=ref, folder_id=to, name=name, on_conflict=choice)
        else:
            way, body = "http", {"parent_id": to, "name": name, "on_conflict": choice}
            real = person.ask("POST", f"{ITEMS}/{ref}/copy", json=body)

        def model(small: SmallDrive) -> str:
            if any_kind:
                small.require_other_place(small.nodes[ref], small.nodes[to], name or "")
            return small.before_copy(email, ref, to, choice, name, any_kind=any_kind)

        done = self.both(email, model, real)
        if done:
            value, named = done
            self.small = copy.deepcopy(self.small)
            self.take_up(value.get("id") or self.run(person.child(to, named)), before.nodes[ref], before, to, named)
            self.settle(email, way, before)

    def take_up(self, made: str, source: Node, before: SmallDrive, parent: str, name: str) -> None:
        """Copy the model's tree too, with the ids that the real copies got."""
        small = self.small
        small.add(made, source.kind, name, parent, source.versions[-1] if source.versions else None)
        originals = [node for node in before.live_below(source) if node.parent == source.id]
        if source.kind == "folder":
            copies = self.run(self.persons[small.nodes[parent].owner].names(made))
            assert copies.keys() == {node.name for node in originals}
            for node in originals:
                self.take_up(copies[node.name], node, before, made, node.name)

    @step(who=people, way=ways, item=picks)
    def trash(self, who: int, way: Way, item: int) -> None:
        email, before = self.emails[who], self.small
        person, ref = self.persons[email], self.pick(email, item)
        path = self.path(email, ref)
        if way == "dav" and path is not None:
            real = person.send("DELETE", path or "/")
        elif way == "mcp":
            real = person.call("trash_item", item_id=ref)
        else:
            way, real = "http", person.ask("POST", f"{ITEMS}/{ref}/trash")
        if self.both(email, lambda small: small.trash(email, ref), real):
            self.settle(email, way, before)

    @step(with_trash, who=people, way=indoors, item=picks, parent=(None, *picks), choice=choices)
    def restore(self, who: int, way: Way, item: int, parent: int | None, choice: Choice) -> None:
        email, before = self.emails[who], self.small
        person, ref = self.persons[email], self.pick(email, item, in_trash=True)
        to = None if parent is None else self.pick(email, parent, "folder")
        real = (
            person.call("restore_item", item_id=ref, folder_id=to, on_conflict=choice)
            if way == "mcp"
            else person.ask("POST", f"{ITEMS}/{ref}/restore", json={"parent_id": to, "on_conflict": choice})
        )
        if self.both(email, lambda small: small.restore(email, ref, to, choice), real):
            self.settle(email, way, before)

    @step(with_trash, weight=1, who=people, way=indoors, item=picks)
    def delete_for_good(self, who: int, way: Way, item: int) -> None:
        email, before = self.emails[who], self.small
        person, ref = self.persons[email], self.pick(email, item, in_trash=True)
        real = person.call("delete_item", item_id=ref) if way == "mcp" else person.ask("DELETE", f"{ITEMS}/{ref}")
        if self.both(email, lambda small: small.delete(email, ref), real):
            self.settle(email, way, before)
            self.last = None

    @step(
        who=people,
        way=indoors,
        item=picks,
        friend=(OWNER, EDITOR, VIEWER),
        role=(1, 2),
    )
    def share(self, who: int, way: Way, item: int, friend: int, role: int) -> None:
        self.give(who, way, self.pick(self.emails[who], item), friend, role)

    def give(self, who: int, way: Way, ref: str, friend: int, role: int) -> None:
        email, before = self.emails[who], self.small
        person, given = self.persons[email], {"email": self.emails[friend], "role": ROLES[role]}
        real = (
            person.call("share_item", item_id=ref, **given)
            if way == "mcp"
            else person.ask("POST", f"{ITEMS}/{ref}/shares", json=given)
        )
        if self.both(email, lambda small: small.share(email, ref, given["email"], role), real):
            self.settle(email, way, before)

    @step(weight=1, who=people, way=indoors, item=picks, friend=people)
    def revoke(self, who: int, way: Way, item: int, friend: int) -> None:
        email, before = self.emails[who], self.small
        person, ref, whose = self.persons[email], self.pick(email, item), self.emails[friend]
        real = (
            person.call("revoke_share", item_id=ref, email=whose)
            if way == "mcp"
            else person.ask("DELETE", f"{ITEMS}/{ref}/shares/{whose}")
        )
        if self.both(email, lambda small: small.revoke(email, ref, whose), real):
            self.settle(email, way, before)

    @step(weight=1, who=people, item=picks, starred=(True, False))
    def star(self, who: int, item: int, starred: bool) -> None:
        email = self.emails[who]
        ref = self.pick(email, item)
        real = self.persons[email].ask("PUT" if starred else "DELETE", f"{ITEMS}/{ref}/star")
        self.both(email, lambda small: small.star(email, ref, starred=starred), real)

    @step(who=people, action=bulk_actions, items=lists, parent=picks, choice=choices)
    def change_many(self, who: int, action: str, items: tuple[int, ...], parent: int, choice: Choice) -> None:
        email, before = self.emails[who], self.small
        kind, in_trash = ("file" if action == "copy" else ""), action in {"restore", "delete"}
        refs = [self.pick(email, item, kind, in_trash=in_trash) for item in items]
        if action == "copy":
            refs = [ref for ref in refs if self.small.nodes[ref].kind == "file"]
        if not refs:
            return
        to = self.pick(email, parent, "folder")
        body = {"action": action, "items": [{"id": ref} for ref in refs], "parent_id": to, "on_conflict": choice}
        answer: Answer = self.run(self.persons[email].ask("POST", f"{ITEMS}/bulk", json=body))
        try:
            self.small.require(email, to, 2, kind="folder")
        except RefusedError:
            assert answer.refusal
            return
        assert not answer.refusal, answer.refusal
        for ref, result in zip(refs, answer.value["results"], strict=True):
            self.one_of_many(email, action, ref, to, choice, result)
        self.settle(email, "http", before)
        if action == "delete" and self.small.nodes.keys() != before.nodes.keys():
            self.last = None

    def one_of_many(self, email: str, action: str, ref: str, to: str, choice: Choice, result: dict[str, Any]) -> None:
        after = copy.deepcopy(self.small)
        try:
            if action == "copy":
                name = after.before_copy(email, ref, to, choice)
                after.add((result["item"] or {}).get("id", ""), "file", name, to, after.nodes[ref].versions[-1])
            elif action in {"move", "restore"}:
                getattr(after, action)(email, ref, to, choice)
            else:
                getattr(after, action)(email, ref)
        except (RefusedError, KeyError):
            assert result["problem"], f"{email}: only the model refuses"
            return
        assert not result["problem"], result["problem"]
        self.small = after

    @step(lambda machine: machine.last is not None, weight=6, way=indoors)
    def undo_the_newest_change(self, way: Way) -> None:
        assert self.last is not None
        email, before = self.last
        self.last_undone = (email, self.reversed("undo", way, email, before))

    @step(lambda machine: machine.last_undone is not None, weight=6, way=indoors)
    def redo_what_was_just_undone(self, way: Way) -> None:
        assert self.last_undone is not None
        self.reversed("redo", way, *self.last_undone)
        self.last_undone = None

    def reversed(self, what: str, way: Way, email: str, before: SmallDrive) -> SmallDrive:
        """Take back the newest change, or its undo: the drive is as it was before."""
        person, newest, now = self.persons[email], self.newest[email], self.small
        real = (
            person.call(f"{what}_changes", change_id=newest)
            if way == "mcp"
            else person.ask("POST", f"{DRIVE}/changes/{newest}/{what}")
        )
        answer: Answer = self.run(real)
        assert not answer.refusal, answer.refusal
        assert answer.value["skipped"] == []
        self.small = now.undone_to(before)
        self.settle(email, way, now)
        self.last = None
        return now


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One service for all sequences: each has people of its own."""
    folder = tmp_path_factory.mktemp("doors")
    settings_of_drive = DriveSettings(data_dir=folder / "data", embedding_model="none")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(running(settings_of_drive)) as service,
    ):
        Doors.portal, Doors.service = portal, service
        yield


@pytest.mark.timeout(600 + 20 * EXAMPLES)
@pytest.mark.usefixtures("house")
def test_every_way_into_the_drive_leads_to_the_same_drive() -> None:
    bounds = settings(
        max_examples=EXAMPLES,
        stateful_step_count=30,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    run_state_machine_as_test(seed(SEED)(Doors), settings=bounds)
