"""A service that plays a script: real HTTP and server-sent events, no assistant and no drive behind them."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import asynccontextmanager, contextmanager
from threading import Event as ThreadEvent
from threading import Thread
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from api.cli.service.local_service import ServiceRunner

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Generator

    from starlette.requests import Request

Event = dict[str, Any]

DROP = "drop the connection, once"
DECISION = "wait until an approval is decided"
FOREVER = "wait until the run is cancelled"

RUN: Event = {"type": "run", "run_id": "run-1", "thread_id": "thread-1"}
DONE: Event = {"type": "done", "run_id": "run-1", "status": "success", "usage": {}, "changes": []}
CANCELLED: Event = {**DONE, "status": "cancelled"}


def content(text: str) -> Event:
    return {"type": "content", "text": text}


def approval(*actions: Event) -> Event:
    return {
        "type": "approval_needed",
        "approval_id": "approval-1",
        "expires_at": "2999-01-01T00:00:00+00:00",
        "actions": list(actions),
    }


def action(name: str, risk: str, call: str = "call-1", **fields: Any) -> Event:
    base = {
        "tool_call_id": call,
        "name": name,
        "args": {},
        "risk": risk,
        "reason": "",
        "preview": "",
        "reversible": True,
    }
    return {**base, **fields}


def problem(status: int, code: str, detail: str, hint: str = "") -> Response:
    body = {"title": code, "status": status, "code": code, "detail": detail, "hint": hint}
    return JSONResponse(body, status, media_type="application/problem+json")


class ScriptedService:
    """Plays `script` for every chat message. Keeps what it was sent: `chats`, `decisions`, `resumed_after`."""

    def __init__(self) -> None:
        self.url = ""
        self.script: list[Event | str] = [RUN, content("Hello."), DONE]
        self.chats: list[Event] = []
        self.decisions: list[Event] = []
        self.resumed_after: list[str] = []
        self.chat_refusals: list[Response] = []
        self.decision_refusals: list[Response] = []
        self.undo_previews: list[bool] = []
        self.cancelled = False
        self._dropped = 0
        self.app = Starlette(
            routes=[
                Route("/healthz", self._health),
                Route("/api/chat", self._chat, methods=["POST"]),
                Route("/api/runs/{run_id}/events", self._events),
                Route("/api/runs/{run_id}/cancel", self._cancel, methods=["POST"]),
                Route("/api/runs/{run_id}/undo", self._undo, methods=["POST"]),
                Route("/api/approvals", self._approvals),
                Route("/api/approvals/{approval_id}", self._decide, methods=["POST"]),
                Route("/api/drive/items/{ref:path}", self._item),
            ],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncGenerator[None]:
        self._decided = asyncio.Event()
        self._stopped = asyncio.Event()
        yield

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _chat(self, request: Request) -> Response:
        self.chats.append({**(await request.json()), "authorization": request.headers.get("authorization")})
        if self.chat_refusals:
            return self.chat_refusals.pop(0)
        return self._stream(0)

    async def _events(self, request: Request) -> Response:
        after = request.headers.get("last-event-id", "")
        self.resumed_after.append(after)
        return self._stream(int(after or 0))

    def _stream(self, after: int) -> Response:
        return StreamingResponse(self._play(after), media_type="text/event-stream")

    async def _play(self, after: int) -> AsyncIterator[str]:
        drops = 0
        number = 0
        yield ": heartbeat\n\n"
        for entry in self.script:
            if entry == DROP:
                drops += 1
                if drops > self._dropped:
                    self._dropped += 1
                    return
            elif isinstance(entry, str):
                await self._wait_for(entry)
            else:
                number += 1
                if number > after:
                    yield f"id: {number}\nevent: {entry['type']}\ndata: {json.dumps(entry)}\n\n"

    async def _wait_for(self, entry: str) -> None:
        await (self._decided if entry == DECISION else self._stopped).wait()

    async def _cancel(self, _: Request) -> Response:
        self.cancelled = True
        self._stopped.set()
        return JSONResponse({"status": "cancelling"}, 202)

    async def _undo(self, request: Request) -> Response:
        preview = (await request.json())["preview"]
        self.undo_previews.append(preview)
        change = {"id": 1, "tool": "trash_item", "summary": "Moved a.txt to the trash", "item_id": "i"}
        return JSONResponse({"undone": [change], "skipped": [], "change_id": None, "preview": preview})

    async def _approvals(self, _: Request) -> Response:
        entry = {"approval_id": "approval-1", "run_id": "run-1", "thread_id": "thread-1"}
        return JSONResponse({"items": [entry], "cursor": None})

    async def _decide(self, request: Request) -> Response:
        self.decisions.append(await request.json())
        if self.decision_refusals:
            refusal = self.decision_refusals.pop(0)
            if refusal.status_code == 409:
                self._decided.set()
            return refusal
        self._decided.set()
        return JSONResponse({"status": "decided"})

    async def _item(self, request: Request) -> Response:
        path = request.path_params["ref"]
        if "missing" in path:
            return problem(404, "not_found", "There is no such item, or it is not shared with you.", "Search for it.")
        kind = "file" if "." in path else "folder"
        return JSONResponse({"id": f"id of {path}", "kind": kind, "name": path, "path": path})


@contextmanager
def running(service: ScriptedService) -> Generator[ScriptedService]:
    """Serve it on a free port."""
    listener = socket.create_server(("127.0.0.1", 0))
    service.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    ready = ThreadEvent()

    async def on_ready() -> None:
        ready.set()

    runner = ServiceRunner(service.app, on_ready)
    runner.config.timeout_graceful_shutdown = 1
    thread = Thread(target=runner.run_on, args=(listener,))
    thread.start()
    assert ready.wait(30)
    try:
        yield service
    finally:
        runner.should_exit = True
        thread.join()
