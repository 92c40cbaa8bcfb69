"""What the benchmarks of turns compare: langchain's prebuilt agent, a small service over it, and ours.

Services run in a process of their own (`python -m benchmarks.contenders NAME`), which says what CPU it has used when it
is asked on its standard input. All run on uvloop.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import uvicorn

MESSAGE = "List the folder"
END_OF_BODY = b"0\r\n\r\n"
LAST_TOKEN = b"token99 "
LOOK_SECONDS = 0.25
QUIET_LOOKS = 6
MOST_LOOKS = 240
AT_REST = 0.1
"""Of one CPU."""
SETTINGS = {
    "OPENAI_API_KEY": "none",
    "DRIVE_EMBEDDING_MODEL": "none",
    "AGENT_TOOL_RATE": "0",
    "AGENT_TOOL_RATES": "",
    "OTEL_SDK_DISABLED": "true",
}


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from the request to the first event, the first token, and the end."""

    first_event: float
    first_token: float
    whole: float


class Contender(Protocol):
    """Something that takes turns, and knows the CPU seconds that its process has used."""

    async def turn(self) -> Times:
        """Say something in a new thread, and read to the end."""
        ...

    def cpu(self) -> float:
        """Return the CPU seconds so far."""
        ...

    def memory(self) -> int:
        """Return the bytes of memory that its process holds."""
        ...


class InProcess:
    """The prebuilt agent, without HTTP and without checkpoints: the floor of what a user would write."""

    def __init__(self, url: str, model: str) -> None:
        from benchmarks.sixty_lines import make_agent

        self._agent = make_agent(url, model)

    async def turn(self) -> Times:
        begun = time.perf_counter()
        first = 0.0
        asked = {"messages": [{"role": "user", "content": MESSAGE}]}
        said = ""
        async for message, _ in self._agent.astream(asked, stream_mode="messages"):
            if message.type == "AIMessageChunk":
                first = first or time.perf_counter() - begun
                said += message.text
        assert said.count(LAST_TOKEN.decode()) == 1, said
        return Times(first, first, time.perf_counter() - begun)

    def cpu(self) -> float:
        return time.process_time()

    def memory(self) -> int:
        return _resident("self")


class Served:
    """A service in a process of its own, asked over plain sockets, so that asking costs next to nothing."""

    def __init__(self, process: "subprocess.Popen[str]", path: str, body: Callable[[], dict[str, str]]) -> None:
        self._process = process
        self._path = path
        self._body = body
        self._told = json.loads(self._line())

    async def turn(self) -> Times:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._told["port"])
        body = json.dumps(self._body()).encode()
        head = (
            f"POST {self._path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {self._told['token']}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        begun = time.perf_counter()
        writer.write(head.encode() + body)
        times = await _read(reader, begun)
        writer.close()
        return times

    def cpu(self) -> float:
        assert self._process.stdin
        self._process.stdin.write("cpu\n")
        self._process.stdin.flush()
        return float(self._line())

    def memory(self) -> int:
        return _resident(self._process.pid)

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline()


def _resident(process: int | str) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def _read(reader: asyncio.StreamReader, begun: float) -> Times:
    body = b""
    first_event = first_token = 0.0
    while not body.endswith(END_OF_BODY):
        piece = await reader.read(65_536)
        assert piece, body[-500:]
        now = time.perf_counter() - begun
        body += piece
        if not first_event and b"event: " in body:
            first_event = now
        if not first_token and b"event: content" in body:
            first_token = now
    assert body.count(LAST_TOKEN) == 1, body[-2000:]
    return Times(first_event, first_token, time.perf_counter() - begun)


async def come_to_rest(contender: Contender) -> None:
    """Return when what a service does after its start is done: imports and tidying are no part of any turn."""
    quiet = 0
    for _ in range(MOST_LOOKS):
        before = contender.cpu()
        await asyncio.sleep(LOOK_SECONDS)
        quiet = quiet + 1 if contender.cpu() - before < AT_REST * LOOK_SECONDS else 0
        if quiet == QUIET_LOOKS:
            return
    raise TimeoutError(f"the service is still busy after {MOST_LOOKS * LOOK_SECONDS:.0f} s")


Opener = Callable[[str, str], AbstractAsyncContextManager[Contender]]


@asynccontextmanager
async def in_process(url: str, model: str) -> AsyncGenerator[Contender]:
    """Open the prebuilt agent on a model."""
    yield InProcess(url, model)


def served(name: str, path: str) -> Opener:
    """Return what opens a service on a model."""

    def body() -> dict[str, str]:
        return {"message": MESSAGE} | ({"thread_id": str(uuid4())} if name == "sixty" else {})

    @asynccontextmanager
    async def opened(url: str, model: str) -> AsyncGenerator[Contender]:
        with tempfile.TemporaryDirectory() as root:
            given = {"MODEL_URL": url, "MODEL": model, "CHECKPOINTS": f"{root}/checkpoints.db", "DRIVE_DATA_DIR": root}
            process = subprocess.Popen(  # noqa: ASYNC220 - once, before anything is measured
                [sys.executable, "-m", __name__, name],
                env={**os.environ, **SETTINGS, "OPENAI_BASE_URL": url, "AGENT_MODEL": model, **given},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            with process:
                yield Served(process, path, body)
                process.terminate()

    return opened


CONTENDERS: dict[str, Opener] = {
    "create_agent, in process": in_process,
    "60 lines of FastAPI over it": served("sixty", "/chat"),
    "drive-agent": served("ours", "/api/chat"),
    "drive-agent, ChatOpenAI": served("ours-openai", "/api/chat"),
}


class _Server(uvicorn.Server):
    """Tells its port once it serves, and then its CPU seconds as often as it is asked. `begun` is called before."""

    def __init__(self, app: Any, token: Callable[[], str], begun: Callable[[], None] = lambda: None) -> None:
        super().__init__(uvicorn.Config(app, port=0, loop="uvloop", log_config=None, access_log=False, backlog=1024))
        self._token = token
        self._begun = begun

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self._begun()
        port = self.servers[0].sockets[0].getsockname()[1]
        print(json.dumps({"port": port, "token": self._token()}), flush=True)
        threading.Thread(target=_tell_cpu, daemon=True).start()


def _tell_cpu() -> None:
    for _ in sys.stdin:
        print(time.process_time(), flush=True)


def chat_openai() -> dict[Any, Any]:
    """Return langchain's own model for each role, to measure the lean client beside."""
    from langchain_openai import ChatOpenAI

    def model(temperature: float) -> Any:
        return ChatOpenAI(
            model=os.environ["MODEL"],
            base_url=os.environ["MODEL_URL"],
            api_key=lambda: "none",
            temperature=temperature,
            streaming=True,
            stream_usage=True,
        )

    return {"router": model(0), "planner": model(0), "agent": model(0)}


def main() -> None:
    """Serve the one that is named."""
    if sys.argv[1] == "sixty":
        from benchmarks.sixty_lines import app

        _Server(app, lambda: "").run()
    else:
        from api.app import create_app
        from drive_server.transports.runner import prepare_process

        token = Path(os.environ["DRIVE_DATA_DIR"]) / "token"
        models = chat_openai() if sys.argv[1] == "ours-openai" else None
        # As `drive-agent serve` begins.
        _Server(create_app(models=models), lambda: token.read_text().strip(), prepare_process).run()


if __name__ == "__main__":
    main()
