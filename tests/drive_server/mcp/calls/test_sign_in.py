"""Signing in over a real stdio process; sessions inside one process are in `test_session.py`."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
from mcp import StdioServerParameters
from mcp.types import Implementation

from tests.drive_server.hosts import Host, session_over_stdio
from tests.drive_server.mcp.tools.test_session import Listener, no_forms, sent_to

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def test_a_host_over_stdio_is_let_in_from_the_running_service(drive: Drive, alice: Actor) -> None:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("DRIVE_")}
    own = {"DRIVE_DATA_DIR": str(drive.settings.root), "DRIVE_DATABASE_URL": drive.settings.database_url}
    variables = {**own, "DRIVE_EMBEDDING_MODEL": "none"}
    command = StdioServerParameters(command=sys.executable, args=["-m", "drive_server"], env={**inherited, **variables})
    listener = Listener()
    caller = Implementation(name="桌面 host", version="1")
    limit = timedelta(seconds=60)
    async with session_over_stdio(
        command,
        read_timeout_seconds=limit,
        elicitation_callback=no_forms,
        message_handler=listener,
        client_info=caller,
    ) as session:
        sign_in_id, token, code = await sent_to(session)
        asked = await drive.sign_ins.open(token)
        await drive.sign_ins.accept(alice, token, ["read"], 1)
        with anyio.fail_after(60):
            await listener.heard.wait()
        me = await Host(session).call("whoami")

    assert (asked.client_name, asked.code) == ("桌面 host", code)
    assert listener.completed == [sign_in_id]
    assert (me["email"], me["key_name"], me["scopes"]) == ("alice@example.com", "桌面 host", ["read"])
