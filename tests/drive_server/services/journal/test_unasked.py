"""Deletion for good by a program that asked nobody says by what it was done, in both languages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.messages import render
from drive_server.services.journal.changes import summary_of
from drive_server.storage.tables.journal import ChangeRow

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store

BY_KEY = (
    "A program did so with the key 'laptop', and asked nobody first.",
    "由程序使用密钥“laptop”执行，事先没有询问任何人。",
)
BY_TOKEN = "A program did so with a token, and asked nobody first.", "由程序使用令牌执行，事先没有询问任何人。"


@pytest.mark.parametrize(("method", "key", "said"), [("api_key", "laptop", BY_KEY), ("jwt", None, BY_TOKEN)])
async def test_a_program_is_named_by_its_key_or_as_one_with_a_token(
    store: Store, ana: Actor, method: str, key: str | None, said: tuple[str, str]
) -> None:
    item = await store.file(ana, "/a.txt", "x")
    await store.files.trash(ana, item.id)
    program = replace(ana, principal=replace(ana.principal, method=method, key_name=key))
    change = (await store.files.delete_for_good(program, item.id)).change_id

    async with store.database.read() as session:
        row = await session.get_one(ChangeRow, change)
    message = summary_of(row)
    assert not isinstance(message, str)
    assert render(message, "en").endswith(said[0])
    assert render(message, "zh").endswith(said[1])
