"""One query for all who wait for the same kind of news, instead of one for each."""

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final, Generic, TypeVar
from weakref import WeakSet

import anyio

from drive_server.kernel.errors import DriveError

logger = logging.getLogger(__name__)
Value = TypeVar("Value")

PAUSE_SECONDS: Final = 0.05
"""Those who begin to watch, or are woken, at the same time are served by one reading."""


class SharedPoll(Generic[Value]):
    """Reads the values of all keys that are watched, in one step every `seconds`; nothing while nobody watches.

    `read` returns the values of the keys that it is given; a key that it leaves out has the value `nothing`.
    """

    def __init__(
        self,
        read: Callable[[Collection[str]], Awaitable[Mapping[str, Value]]],
        seconds: float,
        nothing: Value,
        pause: float = PAUSE_SECONDS,
    ) -> None:
        self._read = read
        self._seconds = seconds
        self._pause = pause
        self._nothing = nothing
        # A stream whose client is gone leaves its watch behind.
        self._watches: WeakSet[Watch[Value]] = WeakSet()
        self._woken = anyio.Event()
        self._watched = anyio.Event()
        self._was_read = anyio.Event()
        self._is_ending = False

    @property
    def next_reading(self) -> anyio.Event:
        """An event that is set after the next reading."""
        return self._was_read

    def watch(self, key: str, *, is_known: bool = False) -> "Watch[Value]":
        """Watch the value of a key. It is read soon; at the next poll only if the caller reads it now (`is_known`)."""
        watch: Watch[Value] = Watch(key)
        self._watches.add(watch)
        if self._is_ending:
            watch.end()
        self._watched.set()
        if not is_known:
            self.wake()
        return watch

    def wake(self) -> None:
        """Read soon, not only at the next poll."""
        self._woken.set()
        self._watched.set()

    def offer(self, key: str, value: Value) -> None:
        """Tell who watches a key its value, which nobody has to read for that."""
        for watch in self._watches:
            if watch.key == key:
                watch.offer(value)

    def end(self) -> None:
        """End all watches, so that the server can shut down."""
        self._is_ending = True
        for watch in self._watches:
            watch.end()

    async def run(self) -> None:
        """Read until cancelled. A reading that fails is tried again at the next poll."""
        while True:
            if not self._watches:
                await self._watched.wait()
            with anyio.move_on_after(self._seconds):
                await self._woken.wait()
            await anyio.sleep(self._pause)
            self._woken, self._watched = anyio.Event(), anyio.Event()
            try:
                await self._look()
            except DriveError:
                pass  # logged where it came from
            except Exception:
                logger.exception("News could not be read.")

    async def _look(self) -> None:
        watches = list(self._watches)
        values = await self._read({watch.key for watch in watches}) if watches else {}
        for watch in watches:
            watch.offer(values.get(watch.key, self._nothing))
        self._was_read.set()
        self._was_read = anyio.Event()


class Watch(Generic[Value]):
    """The value of one key. For one task. `is_open` until the server shuts down."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.is_open = True
        self._offered: tuple[Value, ...] = ()
        self._returned: tuple[Value, ...] = ()
        self._changed = anyio.Event()

    def offer(self, value: Value) -> None:
        """Take the value as it is now."""
        self._offered = (value,)
        if self._offered != self._returned:
            self._changed.set()

    def end(self) -> None:
        """Have it wait no more."""
        self.is_open = False
        self._changed.set()

    async def next(self, seconds: float) -> Value | None:
        """Return the value once it is another than was returned last, the first one as soon as it is read.

        None if there is none in time, and at the end.
        """
        with anyio.move_on_after(seconds):
            while self.is_open and self._offered in ((), self._returned):
                self._changed = anyio.Event()
                await self._changed.wait()
        return self.take()

    def skip(self, value: Value) -> None:
        """Count the value as returned, unless another one was read meanwhile."""
        self._returned = (value,)

    def take(self) -> Value | None:
        """Return the value if it is another than was returned last, else None."""
        if self._offered in ((), self._returned):
            return None
        self._returned = self._offered
        return self._offered[0]
