"""Three people do whatever comes to mind; after each step the drive is as a simple model of it says."""

from __future__ import annotations

import copy
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import select, update

from drive_server.errors import DriveError
from drive_server.storage.tables import UserRow
from tests.drive_server.store import Store, open_store
from tests.properties.small_drive import Choice, Node, RefusedError, SmallDrive

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from drive_server.access import Actor
    from drive_server.models import Item, Outcome

pytestmark = pytest.mark.timeout(600)

QUOTA = 100
EMAILS = ("ana@example.com", "ben@example.com", "eva@example.com")
ROLES = {1: "viewer", 2: "editor", 3: "owner"}

people = st.sampled_from(EMAILS)
names = st.sampled_from(["a", "b", "报告.md"])
texts = st.sampled_from(
    ["", "one", "two and twenty bytes.", "三三三三三三三三三三", "five and thirty bytes long, as it is"]
)
choices = st.sampled_from(["fail", "fail", "rename", "replace"])
picks = st.integers(0, 200)


class TwoDrives(RuleBasedStateMachine):
    """Does each step in both drives: either both do it, or both refuse."""

    @initialize()
    def open(self) -> None:
        self.stack = ExitStack()
        folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.portal = self.stack.enter_context(start_blocking_portal())
        self.store: Store = self.stack.enter_context(self.portal.wrap_async_context_manager(open_store(folder)))
        self.small = SmallDrive(QUOTA)
        self.actors: dict[str, Actor] = {}
        for email in EMAILS:
            self.actors[email] = actor = self.run(self.store.person, email)
            root = self.run(self.store.files.get, actor, "root")
            self.small.nodes[root.id] = Node(root.id, "folder", "", None, email)
        self.run(self._set_quota)
        self._begin_with_something()
        self.last: tuple[str, SmallDrive] | None = None
        self.last_undone: tuple[str, SmallDrive] | None = None

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            self.stack.close()

    def run(self, function: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **kwargs: Any) -> Any:
        return self.portal.call(lambda: function(*args, **kwargs))

    def _begin_with_something(self) -> None:
        """A folder of each person that another one may edit: most steps would be refused in an empty drive."""
        for owner, friend in zip(EMAILS, (*EMAILS[1:], EMAILS[0]), strict=True):
            root = next(node.id for node in self.small.nodes.values() if (node.owner, node.parent) == (owner, None))
            folder = self.run(self.store.files.create_folder, self.actors[owner], root, "a").value.id
            self.small.add(folder, "folder", "a", root)
            self.run(self.store.sharing.share, self.actors[owner], folder, friend, "editor")
            self.small.nodes[folder].shares[friend] = 2

    async def _attempt(self, real: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **kwargs: Any) -> Any:
        try:
            return await real(*args, **kwargs)
        except DriveError as error:
            return error

    async def _set_quota(self) -> None:
        async with self.store.database.write() as session:
            await session.execute(update(UserRow).values(quota_bytes=QUOTA))

    def pick(self, person: str, number: int, kind: str = "", *, in_trash: bool = False) -> str:
        """Return an item's id: four times of five one with which the step makes sense, if there is one."""
        small = self.small
        sensible = [
            node.id
            for node in small.nodes.values()
            if bool(node.trash) == in_trash and kind in ("", node.kind) and small.role(person, node) > 1
        ]
        found = sensible if number % 5 and sensible else [*small.nodes]
        return found[number // 5 % len(found)]

    def both(
        self,
        person: str,
        model: Callable[[SmallDrive], object],
        real: Callable[..., Coroutine[Any, Any, Outcome[Any]]],
        *args: Any,
        **kwargs: Any,
    ) -> Outcome[Any] | None:
        """Do it in both; return what the real drive answered, None if both refused."""
        before, after = self.small, copy.deepcopy(self.small)
        try:
            model(after)
            refused = False
        except RefusedError:
            refused = True
        outcome = self.run(self._attempt, real, self.actors[person], *args, **kwargs)
        if isinstance(outcome, DriveError):
            assert outcome.code not in {"internal", "storage_failure"}, outcome
            assert refused, f"only the real drive refuses: {outcome.code} {outcome.message}"
            return None
        assert not refused, "only the model refuses"
        self.small = after
        if outcome.change_id is not None:
            self.last, self.last_undone = (person, before), None
        return outcome

    @rule(person=people, parent=picks, name=names)
    def create_folder(self, person: str, parent: int, name: str) -> None:
        ref = self.pick(person, parent, "folder")
        made = self.both(
            person, lambda small: small.before_creation(person, ref, name), self.store.files.create_folder, ref, name
        )
        if made:
            self.small.add(made.value.id, "folder", name, ref)

    @rule(person=people, parent=picks, name=names, text=texts)
    def create_file(self, person: str, parent: int, name: str, text: str) -> None:
        ref = self.pick(person, parent, "folder")
        made = self.both(
            person,
            lambda small: small.before_creation(person, ref, name, text),
            self.store.documents.create,
            ref,
            name,
            text,
        )
        if made:
            self.small.add(made.value.id, "file", name, ref, text)

    @rule(person=people, item=picks, text=texts)
    def write(self, person: str, item: int, text: str) -> None:
        ref = self.pick(person, item, "file")
        self.both(person, lambda small: small.write(person, ref, text), self.store.documents.write_text, ref, text)

    @rule(person=people, item=picks, name=names, choice=choices)
    def rename(self, person: str, item: int, name: str, choice: Choice) -> None:
        ref = self.pick(person, item)
        self.both(
            person,
            lambda small: small.rename(person, ref, name, choice),
            self.store.files.rename,
            ref,
            name,
            on_conflict=choice,
        )

    @rule(person=people, item=picks, parent=picks, choice=choices)
    def move(self, person: str, item: int, parent: int, choice: Choice) -> None:
        ref, to = self.pick(person, item), self.pick(person, parent, "folder")
        self.both(
            person,
            lambda small: small.move(person, ref, to, choice),
            self.store.files.move,
            ref,
            to,
            on_conflict=choice,
        )

    @rule(person=people, item=picks, parent=picks, choice=choices)
    def copy(self, person: str, item: int, parent: int, choice: Choice) -> None:
        ref, to = self.pick(person, item), self.pick(person, parent, "folder")
        names: list[str] = []
        made = self.both(
            person,
            lambda small: names.append(small.before_copy(person, ref, to, choice)),
            self.store.files.copy,
            ref,
            to,
            on_conflict=choice,
        )
        if made:
            self._take_up(made.value, self.small.nodes[ref], to, names[0])

    def _take_up(self, made: Item, source: Node, parent: str, name: str) -> None:
        """Copy the model's tree too, with the ids that the real copies got."""
        small = self.small
        small.add(made.id, source.kind, name, parent, source.versions[-1] if source.versions else None)
        originals = [node for node in small.live_below(source) if node.parent == source.id and node.id != made.id]
        if source.kind == "folder":
            copies = self.run(self.store.files.list_folder, self.actors[small.nodes[parent].owner], made.id, limit=1000)
            by_name = {item.name: item for item in copies.items}
            assert by_name.keys() == {node.name for node in originals}
            for node in originals:
                self._take_up(by_name[node.name], node, made.id, node.name)

    @rule(person=people, item=picks)
    def trash(self, person: str, item: int) -> None:
        ref = self.pick(person, item)
        self.both(person, lambda small: small.trash(person, ref), self.store.files.trash, ref)

    @rule(person=people, item=picks, parent=picks | st.none(), choice=choices)
    def restore(self, person: str, item: int, parent: int | None, choice: Choice) -> None:
        ref = self.pick(person, item, in_trash=True)
        to = None if parent is None else self.pick(person, parent, "folder")
        self.both(
            person,
            lambda small: small.restore(person, ref, to, choice),
            self.store.files.restore,
            ref,
            to_parent=to,
            on_conflict=choice,
        )

    @rule(person=people, item=picks)
    def delete_for_good(self, person: str, item: int) -> None:
        ref = self.pick(person, item, in_trash=True)
        if self.both(person, lambda small: small.delete(person, ref), self.store.files.delete_for_good, ref):
            self.last = None

    @rule(person=people, item=picks, friend=people, role=st.sampled_from([1, 2]))
    def share(self, person: str, item: int, friend: str, role: int) -> None:
        ref = self.pick(person, item)
        self.both(
            person,
            lambda small: small.share(person, ref, friend, role),
            self.store.sharing.share,
            ref,
            friend,
            ROLES[role],
        )

    @rule(person=people, item=picks, friend=people)
    def revoke(self, person: str, item: int, friend: str) -> None:
        ref = self.pick(person, item)
        self.both(person, lambda small: small.revoke(person, ref, friend), self.store.sharing.revoke, ref, friend)

    @precondition(lambda self: getattr(self, "last", None) is not None)
    @rule()
    def undo_what_was_done_last(self) -> None:
        assert self.last is not None
        person, before = self.last
        outcome = self.run(self.store.undo.undo, self.actors[person])
        if outcome.value.skipped:
            self.last = None
            return
        self.last, self.last_undone = None, (person, self.small)
        self.small = self.small.undone_to(before)

    @precondition(lambda self: getattr(self, "last_undone", None) is not None)
    @rule()
    def redo_what_was_undone_last(self) -> None:
        assert self.last_undone is not None
        person, before = self.last_undone
        outcome = self.run(self.store.undo.redo, self.actors[person])
        assert outcome.value.skipped == ()
        self.last_undone = None
        self.small = self.small.undone_to(before)

    @invariant()
    def both_are_the_same(self) -> None:
        if hasattr(self, "small"):
            for email in EMAILS:
                assert self.run(self._seen_by, email) == self._expected_of(email)

    async def _seen_by(self, email: str) -> dict[str, Any]:
        actor, files = self.actors[email], self.store.files
        live = {item.id: item for item in await self._below(actor, [await files.get(actor, "root")])}
        live |= {
            item.id: item
            for item in await self._below(actor, [*(await self.store.sharing.shared_with_me(actor)).items])
        }
        trash = [item.id for item in (await files.list_trash(actor, limit=1000)).items if item.owner == email]
        seen = {item.id: (item.name, item.role, await self._text(actor, item)) for item in live.values()}
        versions = {
            item.id: len((await self.store.documents.list_versions(actor, item.id, limit=1000)).items)
            for item in live.values()
            if item.kind == "file" and item.role == "owner"
        }
        async with self.store.database.read() as session:
            used = await session.scalar(select(UserRow.used_bytes).where(UserRow.id == actor.user_id))
        return {"live": seen, "trash": sorted(trash), "versions": versions, "used": used}

    async def _below(self, actor: Actor, items: list[Item]) -> list[Item]:
        for item in items:
            if item.kind == "folder":
                items += (await self.store.files.list_folder(actor, item.id, limit=1000)).items
        return items

    async def _text(self, actor: Actor, item: Item) -> str | None:
        return await self.store.text(actor, item.id) if item.kind == "file" else None

    def _expected_of(self, email: str) -> dict[str, Any]:
        small = self.small
        live = [node for node in small.nodes.values() if node.trash is None and small.role(email, node)]
        mine = [node for node in small.nodes.values() if node.owner == email]
        return {
            "live": {
                node.id: (node.name, ROLES[small.role(email, node)], node.versions[-1] if node.versions else None)
                for node in live
            },
            "trash": sorted(node.id for node in mine if node.trash == node.id),
            "versions": {node.id: len(node.versions) for node in mine if node.kind == "file" and not node.trash},
            "used": small.used(email),
        }


TestTwoDrives = TwoDrives.TestCase
TestTwoDrives.settings = settings(
    max_examples=12, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
