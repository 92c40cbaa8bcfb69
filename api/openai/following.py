"""An answer while it is made: the events of a run from some number on, up to its end or to where it waits."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from fastapi import Request

from api.drive import Principal
from api.events.frames import Frame
from api.http.approval_pages import address_of
from api.http.run_streams import frames_while_proved, shown_frames
from api.openai.pieces import Piece, Rendering
from api.service import Service
from api.storage.tables import RunRow
from graph.language import language_of

COMMENT_SECONDS: Final = 5.0
"""The longest silence of a stream: then it has a comment."""
HOLD_SECONDS: Final = 120.0
"""So long an answer stays open for a decision."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The part of a run that answers a request: a `preface`, and the events after a number.

    `is_new`: the run has just begun with this request, so that nothing of it can be withheld from its person.
    """

    run: RunRow
    after: int = 0
    preface: str = ""
    is_new: bool = False

    @property
    def id(self) -> str:
        """Return the id by which clients know the answer."""
        return f"{self.run.id.replace('-', '')}_{self.after}"


def rendering_of(run: RunRow, service: Service) -> Rendering:
    """Return the rendering that turns the events of a run into pieces."""

    def where(approval_id: str) -> str:
        return address_of(service, approval_id)

    def clean(text: str) -> str:
        return service.graph.link_filter(run.message).clean(text)

    return Rendering(language_of(run.message), where, clean)


async def follow(
    answer: Answer, caller: Principal, service: Service, request: Request, hold_seconds: float
) -> AsyncGenerator[list[Piece]]:
    """Yield the pieces of an answer; an empty list in silence.

    At an approval it ends, unless that is decided within `hold_seconds`. Closing it stops nothing.
    """
    rendering, until = rendering_of(answer.run, service), None
    if answer.preface:
        yield [Piece("text", answer.preface)]
    async with aclosing(await _batches(answer, caller, service, request)) as batches:
        async for frames in batches:
            pieces = [*rendering.take(frames)]
            asked = next((number for number, piece in enumerate(pieces, 1) if piece.kind == "approval"), 0)
            if asked and not hold_seconds:
                # The rest is another answer, also where it is there already.
                yield pieces[:asked]
                return
            if pieces or not frames:
                yield pieces
            if pieces and pieces[-1].kind == "end":
                return
            if frames:
                until = monotonic() + hold_seconds if asked else None
            if until is not None and monotonic() >= until:
                return


async def _batches(
    answer: Answer, caller: Principal, service: Service, request: Request
) -> AsyncGenerator[list[Frame]]:
    lively = replace(service, heartbeat_seconds=min(COMMENT_SECONDS, service.heartbeat_seconds))
    if answer.is_new:
        return frames_while_proved(answer.run, answer.after, caller, lively, request)
    return await shown_frames(answer.run, answer.after, caller, lively, request)
