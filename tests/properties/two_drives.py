"""The real drive, by all ways into it, beside the small one: steps are done in both, and both are compared."""

from __future__ import annotations

import copy
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from drive_server.services.tree.nodes import SHARED_FOLDER
from tests.drive_server.http.items import ITEMS
from tests.properties.doors import Answer, Person, Way, person_of
from tests.properties.small_drive import Node, RefusedError, SmallDrive

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from anyio.from_thread import BlockingPortal

    from tests.drive_server.http.service import Service

QUOTA = 100
ROLES = {1: "viewer", 2: "editor", 3: "owner"}
OWNER, EDITOR, VIEWER, STRANGER = range(4)

F = TypeVar("F", bound="Callable[..., None]")


@dataclass(frozen=True)
class Step:
    """Something that somebody does: when it makes sense, how often it is chosen, with what arguments."""

    run: Callable[..., None]
    is_possible: Callable[[TwoDrives], bool]
    weight: int
    arguments: dict[str, Sequence[Any]]


STEPS: dict[str, Step] = {}


def always(machine: TwoDrives) -> bool:
    del machine
    return True


def with_files(machine: TwoDrives) -> bool:
    return any(node.kind == "file" and not node.trash for node in machine.small.nodes.values())


def with_trash(machine: TwoDrives) -> bool:
    return any(node.trash for node in machine.small.nodes.values())


def step(
    is_possible: Callable[[TwoDrives], bool] = always, /, weight: int = 2, **arguments: Sequence[Any]
) -> Callable[[F], F]:
    """Have the method chosen, with one of the values for each argument.

    Not by a rule of its own with its strategies: in few and short sequences, Hypothesis repeats few of these.
    """

    def register(run: F) -> F:
        STEPS[run.__name__] = Step(run, is_possible, weight, arguments)
        return run

    return register


class TwoDrives(RuleBasedStateMachine):
    """Has four people in both drives. Each step is done in both, or refused by both; then both are the same."""

    portal: ClassVar[BlockingPortal]
    service: ClassVar[Service]
    number: ClassVar[int] = 0

    @initialize()
    def open(self) -> None:
        TwoDrives.number += 1
        self.stack = ExitStack()
        self.emails = [f"{name}-{TwoDrives.number}@example.com" for name in ("ana", "ben", "cyd", "dan")]
        self.small = SmallDrive(QUOTA)
        self.persons: dict[str, Person] = {}
        self.newest = dict.fromkeys(self.emails, 0)
        self.steps, self.acting = 0, OWNER
        self.fresh: list[str] = []
        self.last: tuple[str, SmallDrive] | None = None
        self.last_undone: tuple[str, SmallDrive] | None = None
        for email in self.emails:
            opened = self.portal.wrap_async_context_manager(person_of(self.service, email, QUOTA))
            person = self.persons[email] = self.stack.enter_context(opened)
            root = self.run(person.ask("GET", f"{ITEMS}/root")).value["id"]
            self.small.nodes[root] = Node(root, "folder", "", None, email)
        self.begin()

    def begin(self) -> None:
        """Put into the drives what the steps start from."""

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            self.stack.close()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        async def done() -> Any:
            return await coroutine

        return self.portal.call(done)

    def pick(self, email: str, number: int, kind: str = "", *, in_trash: bool = False) -> str:
        """Return an item's id: four times of five one with which the step makes sense, if there is one."""
        small = self.small
        sensible = [
            node.id
            for node in small.nodes.values()
            if bool(node.trash) == in_trash and kind in ("", node.kind) and small.role(email, node) > 1
        ]
        found = sensible if number % 5 and sensible else [*small.nodes]
        return found[number // 5 % len(found)]

    def path(self, email: str, node_id: str) -> str | None:
        """Return where a person finds an item by WebDAV, None if nowhere."""
        node = self.small.nodes[node_id]
        if (node.owner, node.parent) == (email, None):
            return ""
        return next((path for path, found in self.small.paths(email).items() if found is node), None)

    def both(self, email: str, model: Callable[[SmallDrive], Any], real: Coroutine[Any, Any, Answer]) -> Any:
        """Do it in both; return what the real drive and the model answered, None if both refused."""
        after, said, refused = copy.deepcopy(self.small), None, False
        self.fresh = []
        try:
            said = model(after)
        except RefusedError:
            refused = True
        answer: Answer = self.run(real)
        assert bool(answer.refusal) == refused, f"{email}: only one of both refuses: {answer.refusal or 'the model'}"
        if refused:
            return None
        self.small = after
        return answer.value, said

    def settle(self, email: str, way: Way, before: SmallDrive) -> None:
        """Check the journal, and remember what an undo leads back to."""
        self.acting = self.emails.index(email)
        changed = self.small.touch(before, email, by_dav=way == "dav")
        self.fresh = [node.id for node in self.small.nodes.values() if node != before.nodes.get(node.id)]
        found = [change["id"] for change in self.run(self.persons[email].newest_changes(self.way(0)))]
        assert found[:1] != [self.newest[email]] if changed else found[:1] in ([], [self.newest[email]])
        assert not changed or self.newest[email] in (*found[1:], 0)
        if changed:
            self.newest[email] = found[0]
            self.last, self.last_undone = (email, before), None

    def way(self, number: int) -> Way:
        """Return a way to look, another one with each step."""
        return ("http", "mcp")[(self.steps + number) % 2]

    @rule(number=st.integers(0, 1 << 32))
    def do(self, number: int) -> None:
        random = Random(f"{number} {self.steps}")
        chosen = random.choice([one for one in STEPS.values() if one.is_possible(self) for _ in range(one.weight)])
        arguments = {name: random.choice(values) for name, values in chosen.arguments.items()}
        note(f"{chosen.run.__name__} {arguments}")
        chosen.run(self, **arguments)

    @invariant()
    def every_way_shows_the_same_drive(self) -> None:
        if not hasattr(self, "persons") or len(self.persons) < len(self.emails):
            return
        self.steps += 1
        # Those who did nothing are looked at in turn: what went wrong for them does not go away.
        for who in {self.acting, self.steps % len(self.emails)} if self.fresh else {self.steps % len(self.emails)}:
            self.look(who, get_args(Way)[(self.steps + who) % 3])
        if self.steps % 10 == 0:
            for who in range(len(self.emails)):
                for way in get_args(Way):
                    self.look(who, way)

    def look(self, who: int, way: Way) -> None:
        email = self.emails[who]
        person, small = self.persons[email], self.small
        found = self.run(person.seen(way))
        assert found.used == small.used(email)
        if way == "dav":
            assert found.live == self.paths_of(email)
        else:
            self.check_items(email, found.live)
            assert found.trash == self.trash_of(email)
        if found.starred is not None:
            mine = [small.nodes[ref] for whose, ref in small.stars if whose == email]
            assert found.starred == {node.id for node in mine if not node.trash and small.role(email, node)}
        self.check_fresh(person, way)

    def paths_of(self, email: str) -> dict[str, int | None]:
        found = {
            path: len(node.versions[-1].encode()) if node.versions else None
            for path, node in self.small.paths(email).items()
        }
        return found | ({f"/{SHARED_FOLDER}": None} if self.small.shared_with(email) else {})

    def trash_of(self, email: str) -> set[str]:
        return {node.id for node in self.small.nodes.values() if (node.owner, node.trash) == (email, node.id)}

    def check_items(self, email: str, found: dict[str, Any]) -> None:
        small = self.small
        expected = {
            node.id: (
                node.name,
                ROLES[small.role(email, node)],
                len(node.versions),
                len(node.versions[-1].encode()) if node.versions else 0,
            )
            for node in small.nodes.values()
            if node.trash is None and small.role(email, node)
        }
        assert {
            ref: (item["name"], item["role"], item["version"], item["size"]) for ref, item in found.items()
        } == expected
        if any("starred" in item for item in found.values()):
            assert {ref for ref, item in found.items() if item["starred"]} == {
                ref for whose, ref in small.stars if whose == email and ref in expected
            }

    def check_fresh(self, person: Person, way: Way) -> None:
        """Check contents and versions of the files that the last step changed."""
        for ref in self.fresh:
            node = self.small.nodes.get(ref)
            if node is None or node.kind != "file" or node.trash or not self.small.role(person.email, node):
                continue
            path = self.path(person.email, ref) or ""
            assert self.run(person.text(way, ref, path)) == node.versions[-1]
            if self.small.role(person.email, node) > 1 and way != "dav":
                sizes = [len(text.encode()) for text in node.versions]
                assert self.run(person.version_sizes(way, ref)) == sizes
