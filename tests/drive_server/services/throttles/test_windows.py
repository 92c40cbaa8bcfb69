"""Windows of attempts, in this process and in a table: the same rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.errors import InvalidInputError, RateLimitError, UnauthenticatedError
from drive_server.kernel.messages import Message
from drive_server.services.throttles import windows
from drive_server.services.throttles.attempts import Attempts, WrongKeys
from drive_server.services.throttles.windows import Window, remove_old_attempts, window_of
from drive_server.storage.drive_database import open_database
from drive_server.storage.tables.people import AttemptRow
from tests.databases import new_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.kernel.sql.database import Database

LIMIT = 3
REASON = Message.of("too_many_wrong_passwords")


@pytest.fixture(params=["memory", "table"])
async def database(request: pytest.FixtureRequest) -> AsyncIterator[Database | None]:
    if request.param == "memory":
        yield None
        return
    database = await open_database(new_url())
    yield database
    await database.dispose()


@pytest.fixture
def window(database: Database | None) -> Window:
    return window_of(database, "test", LIMIT, REASON)


async def count(window: Window, key: str, *, counts: bool = True) -> None:
    await window.settle(key, await window.take(key), counts=counts)


async def test_attempts_that_were_wrong_fill_a_window_and_right_ones_do_not(window: Window) -> None:
    for _ in range(2 * LIMIT):
        await count(window, "ana", counts=False)
    for _ in range(LIMIT):
        await count(window, "ana")
    with pytest.raises(RateLimitError) as refused:
        await window.take("ana")
    assert 1 <= refused.value.details["retry_after_seconds"] <= 60
    assert await window.wait_seconds("ana") > 0
    await count(window, "ben")
    assert await window.wait_seconds("ben") == 0


async def test_many_who_come_at_once_and_are_right_all_get_in(window: Window) -> None:
    attempts, got_in = Attempts(window), 0

    async def try_once() -> None:
        nonlocal got_in
        async with attempts.attempt("ana"):
            await anyio.lowlevel.checkpoint()
            got_in += 1

    async with anyio.create_task_group() as group:
        for _ in range(4 * LIMIT):
            group.start_soon(try_once)
    assert got_in == 4 * LIMIT


async def test_an_attempt_that_fails_for_another_reason_does_not_count(window: Window) -> None:
    attempts = Attempts(window)
    for _ in range(LIMIT):
        with pytest.raises(InvalidInputError):
            async with attempts.attempt("ana"):
                raise InvalidInputError("x")
    for _ in range(LIMIT):
        with pytest.raises(UnauthenticatedError):
            async with attempts.attempt("ana"):
                raise UnauthenticatedError("x")
    with pytest.raises(RateLimitError):
        async with attempts.attempt("ana"):
            raise AssertionError


async def test_one_wrong_key_again_and_again_and_different_ones_are_both_limited(database: Database | None) -> None:
    keys = WrongKeys(LIMIT, Message.of("too_many_wrong_keys"), database)
    for _ in range(LIMIT):
        await keys.take("10.0.0.1", "same")
    with pytest.raises(RateLimitError):
        await keys.take("10.0.0.1", "same")
    for number in range(LIMIT - 1):
        await keys.take("10.0.0.1", f"other {number}")
    with pytest.raises(RateLimitError):
        await keys.take("10.0.0.1", "one more")
    await keys.take("10.0.0.2", "same")


async def test_an_attempt_whose_process_is_gone_counts_as_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "UNCHECKED_SECONDS", 0.2)
    database = await open_database(new_url())
    window = window_of(database, "test", 1, REASON)
    await window.take("ana")
    with anyio.fail_after(30), pytest.raises(RateLimitError):
        await window.take("ana")
    await database.dispose()


async def test_what_counts_no_more_is_removed() -> None:
    database = await open_database(new_url())
    await count(window_of(database, "old", 1, REASON, period_seconds=0), "ana")
    await count(window_of(database, "new", 1, REASON), "ana")
    await remove_old_attempts(database)
    async with database.read() as session:
        rows = (await session.execute(AttemptRow.__table__.select())).all()
    assert len(rows) == 1
    assert "ana" not in str(rows)
    await database.dispose()
