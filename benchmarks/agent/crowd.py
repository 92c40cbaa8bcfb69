"""A hundred chats at once on a model of 300 ms and then 20 ms a token: `python -m benchmarks.agent.crowd`.

Contenders are measured one after the other, each beside the model and the clients alone: with a request that a pattern
routes, then (`--only unknown`: nothing else) those that route with one that no pattern knows.
"""

import argparse
import asyncio
import importlib.util
from collections.abc import Sequence
from statistics import median, quantiles

import uvloop

from benchmarks.fixtures.services.contenders import CONTENDERS, UNKNOWN_CONTENDERS, Opener, come_to_rest
from benchmarks.fixtures.services.scripted_model import TOKENS, scripted_model
from benchmarks.fixtures.table import print_table

FIRST, BETWEEN = 0.3, 0.02
IDEAL = FIRST + (TOKENS - 1) * BETWEEN
HEADER = ["", "median s", "p95 s", "p95 beside ideal", "first token p95 s", "CPU ms a chat", "MB"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a crowd."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["known", "unknown"])
    given = parser.parse_args(arguments)
    crowds = {"known": CONTENDERS, "unknown": UNKNOWN_CONTENDERS}
    if importlib.util.find_spec("langchain") is None:
        print("\nNothing to compare crowds with: install the extra `bench`.")
        return
    with scripted_model(FIRST, BETWEEN) as url:
        for crowd in [given.only] if given.only else crowds:
            rows = [
                [name, *uvloop.run(_measure(open_, url, given.chats, given.rounds))]
                for name, open_ in crowds[crowd].items()
            ]
            title = f"{given.chats} chats at once, a request {crowd} to the patterns"
            print_table(f"{title}, ideal {IDEAL:.2f} s, {given.rounds} rounds", HEADER, rows)


async def _measure(open_: Opener, url: str, chats: int, rounds: int) -> list[str]:
    async with open_(url, "calls-0") as contender:
        await asyncio.gather(*(contender.turn() for _ in range(5)))
        await come_to_rest(contender)
        before = contender.cpu()
        taken = [
            times for _ in range(rounds) for times in await asyncio.gather(*(contender.turn() for _ in range(chats)))
        ]
        used = contender.cpu() - before
        memory = contender.memory()
    whole = [times.whole for times in taken]
    late = quantiles(whole, n=20)[-1]
    first = quantiles([times.first_token for times in taken], n=20)[-1]
    return [
        f"{median(whole):.2f}",
        f"{late:.2f}",
        f"x{late / IDEAL:.2f}",
        f"{first:.2f}",
        f"{used * 1000 / len(taken):.1f}",
        f"{memory / 1e6:.0f}",
    ]


if __name__ == "__main__":
    main()
