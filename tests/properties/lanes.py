"""Work that can be checked after a crash: each lane is a sequence of calls in a folder, known by its seed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from drive_server.kernel.access import Actor
    from drive_server.models.changes import Outcome
    from tests.drive_server.store import Store

VERBS = ("create", "create", "write", "write", "rename", "trash", "restore", "copy", "share", "big")
MAX_FILES = 6
BIG_BYTES = 3 << 20


@dataclass(frozen=True, slots=True)
class Step:
    """One call: what is done to the file `name`, with another name or a text."""

    number: int
    verb: str
    name: str
    other: str = ""
    text: str = ""


@dataclass(slots=True)
class Lane:
    """A folder, and what has to be in it after some of the steps."""

    folder: str
    live: dict[str, str] = field(default_factory=dict[str, str])
    trashed: dict[str, str] = field(default_factory=dict[str, str])
    shared: set[str] = field(default_factory=set[str])

    def apply(self, step: Step) -> None:
        """Do to the model what the step does to the drive."""
        if step.verb in {"create", "write", "big"}:
            self.live[step.name] = step.text
        elif step.verb == "rename":
            self.live[step.other] = self.live.pop(step.name)
            self.shared = {step.other if name == step.name else name for name in self.shared}
        elif step.verb == "copy":
            self.live[step.other] = self.live[step.name]
        elif step.verb == "share":
            self.shared.add(step.name)
        elif step.verb == "trash":
            self.trashed[step.name] = self.live.pop(step.name)
        else:
            self.live[step.name] = self.trashed.pop(step.name)


def steps_of(seed: str, folder: str) -> Iterator[Step]:
    """Yield the lane's steps, the same ones each time, without an end. Each can be done if those before were."""
    random, lane, number = Random(seed), Lane(folder), 0
    while True:
        step = _next(random, lane, number)
        if step is not None:
            lane.apply(step)
            yield step
            number += 1


def _next(random: Random, lane: Lane, number: int) -> Step | None:
    verb = random.choice(VERBS)
    fresh = f"{number}-{random.choice(['plan.md', '报告.txt', '📄.md'])}"
    text = f"{number} {random.random()}"
    source = lane.trashed if verb == "restore" else lane.live
    if verb in {"create", "big", "copy"} and len(lane.live) >= MAX_FILES:
        return None
    if verb in {"create", "big"}:
        return Step(number, verb, fresh, text=text * (BIG_BYTES // len(text)) if verb == "big" else text)
    if not source:
        return None
    return Step(number, verb, random.choice(sorted(source)), fresh, text)


class Walker:
    """Does a lane's steps in a real store, each under a key of its own; a repeat of one has to be a replay."""

    def __init__(self, store: Store, actor: Actor, folder: str) -> None:
        self._store = store
        self._actor = actor
        self._folder = folder

    async def prepare(self) -> None:
        """Make the lane's folder, unless it was made before."""
        actor = replace(self._actor, idempotency_key=f"{self._folder} folder")
        await self._store.files.create_folder(actor, "root", self._folder)

    async def walk(self, step: Step) -> Outcome[Any]:
        """Do one step."""
        actor = replace(self._actor, idempotency_key=f"{self._folder} {step.number}", run_id=self._folder)
        return await self._calls(actor, step)[step.verb]()

    def _calls(self, actor: Actor, step: Step) -> dict[str, Callable[[], Coroutine[Any, Any, Outcome[Any]]]]:
        store, folder = self._store, f"/{self._folder}"
        path = f"{folder}/{step.name}"

        async def restored() -> Outcome[Any]:
            # The id, where it is now: in the trash, or back already if this is a repeat.
            in_trash = (await store.files.list_trash(actor, limit=1000)).items
            found = next((item for item in in_trash if item.name == step.name and item.path.startswith(folder)), None)
            return await store.files.restore(actor, (found or await store.files.get(actor, path)).id)

        return {
            "create": lambda: store.documents.create(actor, folder, step.name, step.text),
            "big": lambda: store.documents.create(actor, folder, step.name, step.text),
            "write": lambda: store.documents.write_text(actor, path, step.text),
            "rename": lambda: store.files.rename(actor, path, step.other),
            "copy": lambda: store.files.copy(actor, path, folder, step.other),
            "share": lambda: store.sharing.share(actor, path, f"{step.number}@example.com", "viewer"),
            "trash": lambda: store.files.trash(actor, path),
            "restore": restored,
        }
