from pathlib import Path

import anyio

from drive_server.storage.database import open_database
from drive_server.storage.secret import signing_key


async def test_two_that_start_at_once_and_one_that_comes_later_have_the_same_key(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'drive.db'}"
    first, second = await open_database(url), await open_database(url)
    keys: list[bytes] = []

    async def take(database: object) -> None:
        keys.append(await signing_key(database))  # pyright: ignore[reportArgumentType] - of the two above

    async with anyio.create_task_group() as group:
        group.start_soon(take, first)
        group.start_soon(take, second)
    await take(first)
    await first.dispose()
    await second.dispose()
    assert len(keys[0]) == 32
    assert len(set(keys)) == 1
