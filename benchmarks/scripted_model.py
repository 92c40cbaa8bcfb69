"""An OpenAI-compatible server in a process of its own that says the same to everybody, at a given pace.

`python -m benchmarks.scripted_model`. The model `calls-3` calls a tool three times, one after the other, then says 100
tokens, each in a chunk of its own. No framework: what it costs is not to be measured.
"""

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

TOKENS = 100
TOOL = "list_folder"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
USAGE = {"prompt_tokens": 700, "completion_tokens": TOKENS, "total_tokens": 700 + TOKENS}


def _event(data: bytes) -> bytes:
    body = b"data: " + data + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(body), body)


def _chunk(delta: Mapping[str, Any], finish: str | None = None, **fields: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    head = {"id": "chatcmpl-B9", "object": "chat.completion.chunk", "created": 1763700000, "model": "scripted"}
    fields.setdefault("choices", [choice])
    return _event(json.dumps({**head, "system_fingerprint": "fp_44709d6fcb", **fields}).encode())


FIRST = _chunk({"role": "assistant", "content": ""})
SAID = [_chunk({"content": f"token{number} "}) for number in range(TOKENS)]
USED = _chunk({}, choices=[], usage=USAGE)
END = _event(b"[DONE]") + b"0\r\n\r\n"


def _call(number: int) -> list[bytes]:
    named = {"index": 0, "id": f"call_{number}", "type": "function", "function": {"name": TOOL, "arguments": ""}}
    rest = {"index": 0, "function": {"arguments": "{}"}}
    return [_chunk({"tool_calls": [named]}), _chunk({"tool_calls": [rest]}), _chunk({}, "tool_calls")]


def _answer(request: Mapping[str, Any]) -> list[bytes]:
    messages = request["messages"]
    asked = max(n for n, message in enumerate(messages) if message["role"] == "user")
    results = sum(message["role"] == "tool" for message in messages[asked:])
    if results < int(request["model"].rpartition("-")[2]):
        return _call(len(messages))
    return [*SAID, _chunk({}, "stop")]


class Model:
    """Answers requests. Times are in seconds: until the first token, and between tokens."""

    def __init__(self, first: float, between: float) -> None:
        self._first = first
        self._between = between

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                body = await reader.readexactly(int(length.partition(b":")[2]))
                await self._say(_answer(json.loads(body)), writer)
        writer.close()

    async def _say(self, chunks: list[bytes], writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        loop = asyncio.get_running_loop()
        due = loop.time() + self._first
        await _until(due)
        writer.write(FIRST)
        for chunk in chunks:
            writer.write(chunk)
            due += self._between
            await _until(due)
        writer.write(USED + END)
        await writer.drain()


async def _until(due: float) -> None:
    """Wait for the moment: by the clock, so that lateness does not add up."""
    wait = due - asyncio.get_running_loop().time()
    if wait > 0:
        await asyncio.sleep(wait)


@contextmanager
def scripted_model(first: float = 0, between: float = 0) -> Generator[str]:
    """Run the server in a process of its own; yields its base URL."""
    command = [sys.executable, "-m", __name__, "--first", str(first), "--between", str(between)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        process.terminate()


async def _run(first: float, between: float) -> None:
    server = await asyncio.start_server(Model(first, between).serve, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    """Serve until the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=float, default=0, help="seconds until the first token")
    parser.add_argument("--between", type=float, default=0, help="seconds between tokens")
    given = parser.parse_args()
    asyncio.run(_run(given.first, given.between))


if __name__ == "__main__":
    main()
