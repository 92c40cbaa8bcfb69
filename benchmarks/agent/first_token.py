"""The modules of ours on the way from a message to the first token: `python -m benchmarks.agent.first_token`.

A turn without tools on a scripted model, in this process: counted are the modules that a call enters between the
request and the first words that leave, on the event loop and in threads, in each of some turns: background work is in
few of them. `--list` names them. The model says a word every 20 ms: of one that says all at once, the rest of the turn
would count too. `--message` asks something else.
"""

import argparse
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from pathlib import Path
from types import FrameType
from typing import Any, Final

import httpx
import uvloop

import api
from benchmarks.fixtures.services.contenders import SETTINGS
from benchmarks.fixtures.services.scripted_model import scripted_model
from benchmarks.fixtures.table import print_table

ROOT: Final = Path(str(api.__file__)).parents[1]
PACKAGES: Final = ("api", "graph", "drive_server")
WARM_UP: Final = 5
COUNTED: Final = 5
FIRST_WORDS: Final = b"event: content"
MESSAGE: Final = "Who are you?"
BETWEEN_TOKENS: Final = 0.02


class EnteredModules:
    """Counts calls by module of ours while it `counts`."""

    def __init__(self) -> None:
        self.counts = False
        self.calls = Counter[str]()
        self._names: dict[str, str] = {}

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        """Note a call; a profile function of `sys.setprofile`."""
        del argument
        if self.counts and event == "call":
            file = frame.f_code.co_filename
            if name := self._names.setdefault(file, _module_of(file)):
                self.calls[name] += 1


def _module_of(file: str) -> str:
    """Return the path of a module of ours within the repository; empty for others."""
    path = Path(file)
    if not path.is_relative_to(ROOT):
        return ""
    own = path.relative_to(ROOT)
    return str(own) if own.parts[0] in PACKAGES else ""


async def count_modules(url: str, root: str, text: str = MESSAGE) -> Mapping[str, int]:
    """Return the fewest calls by module of a turn up to its first words, when everything is loaded."""
    os.environ.update(SETTINGS, OPENAI_BASE_URL=url, AGENT_MODEL="calls-0", DRIVE_DATA_DIR=root)
    entered = EnteredModules()
    threading.setprofile(entered.note)
    from api.app import create_app

    app = create_app()

    async def until_first_words(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Mapping[str, Any]) -> None:
            entered.counts = entered.counts and FIRST_WORDS not in message.get("body", b"")
            await send(message)

        entered.calls.clear()
        entered.counts = True
        sys.setprofile(entered.note)
        try:
            await app(scope, receive, sent)
        finally:
            sys.setprofile(None)

    async with app.router.lifespan_context(app):
        headers = {"authorization": f"Bearer {(Path(root) / 'token').read_text().strip()}"}
        transport = httpx.ASGITransport(until_first_words)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
            turns: list[Counter[str]] = []
            for _ in range(WARM_UP + COUNTED):
                answer = await client.post("/api/chat", json={"message": text})
                assert FIRST_WORDS.decode() in answer.text, answer.text
                turns.append(entered.calls.copy())
    return reduce(and_, turns[WARM_UP:])


def main(arguments: Sequence[str] | None = None) -> None:
    """Count, and print how many there are in each package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the modules")
    parser.add_argument("--message", default=MESSAGE)
    given = parser.parse_args(arguments)
    with scripted_model(between=BETWEEN_TOKENS) as url, tempfile.TemporaryDirectory() as root:
        calls = uvloop.run(count_modules(url, root, given.message))
    rows = [[package, *_sums(calls, package)] for package in PACKAGES]
    print_table("Modules of ours up to the first token", ["", "modules", "calls"], [*rows, ["all", *_sums(calls, "")]])
    if given.list:
        for name, times in sorted(calls.items()):
            print(f"{times:6} {name}")


def _sums(calls: Mapping[str, int], package: str) -> list[str]:
    own = [times for name, times in calls.items() if name.startswith(package)]
    return [str(len(own)), str(sum(own))]


if __name__ == "__main__":
    main()
