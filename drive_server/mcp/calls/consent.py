"""Consent: an outside host asks its person before a call whose tool's record says so."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final
from weakref import WeakValueDictionary

import anyio
from mcp.server.session import ServerSession
from mcp.shared.exceptions import McpError
from mcp.types import ElicitResult, RequestId
from pydantic import ValidationError

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import DeclinedError
from drive_server.kernel.messages import LANGUAGES, Language, Message, render
from drive_server.kernel.texts import ORIGINAL, Texts
from drive_server.mcp.calls.questions import AsksInResults, Question
from drive_server.mcp.sdk import cancel_request, next_request_id
from drive_server.models.changes import Effect, Outcome
from drive_server.services.journal.service import Journal
from drive_server.services.tree.names import display_name

TEXTS: Final = Texts.beside(__file__)
OTHERS: Final = tuple(language for language in LANGUAGES if language != ORIGINAL)
"""A host does not tell its person's language: a question is asked in English, and in short in every other one."""
MAX_NAMED: Final = 10
MAX_CHARACTERS: Final = 200
MAX_DIFF_LINES: Final = 20
# Accepting is enough. The field is there because hosts show a form without fields as one that can't be sent off; it is
# not required because others accept with an empty content.
FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "confirm": {
            "type": "boolean",
            "title": " · ".join(TEXTS.say("confirm", language) for language in (ORIGINAL, *OTHERS)),
            "description": " ".join(TEXTS.say("confirm.about", language) for language in (ORIGINAL, *OTHERS)),
            "default": True,
        }
    },
}


class Consent:
    """Asks one question for each call, and takes nothing but a yes within `answer_seconds`."""

    def __init__(self, journal: Journal, answer_seconds: float) -> None:
        self._journal = journal
        self._answer_seconds = answer_seconds
        self._turns: WeakValueDictionary[tuple[str, str], anyio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, actor: Actor) -> AsyncGenerator[None]:
        """Let calls with one idempotency key follow one another, so that only the first asks."""
        if actor.idempotency_key is None:
            yield
            return
        lock = self._turns.setdefault((actor.user_id, actor.idempotency_key), anyio.Lock())
        async with lock:
            yield

    async def approved(
        self,
        session: ServerSession,
        request_id: RequestId,
        actor: Actor,
        operation: Callable[[Actor], Awaitable[Outcome[Any]]],
        *,
        when_shared: bool,
    ) -> Actor:
        """Return the actor as the person approved the operation, bound to the state that they were shown.

        An operation that was recorded before needs nobody: it does nothing again. With `when_shared` neither does one
        that no other person sees. Raises `DeclinedError`, and the errors of the operation's rehearsal.
        """
        if await self._journal.has_recorded(actor):
            return actor
        rehearsal = await operation(replace(actor, dry_run=True))
        effect = rehearsal.effect or Effect()
        if when_shared and not effect.reaches_others:
            return actor
        shown = await self._ask(session, request_id, Question(question(effect), effect.etag))
        who = actor.principal
        key = who.key_name or who.method
        return replace(actor, if_match=shown.etag or actor.if_match, approved_by=who.email, approved_key=key)

    async def _ask(self, session: ServerSession, request_id: RequestId, asked: Question) -> Question:
        """Return the question as the person saw it when they agreed. Raises `DeclinedError`."""
        if isinstance(session, AsksInResults):
            answer, seen = await session.answer_to(asked, FORM)
        else:
            answer, seen = await self._elicited(session, request_id, asked.text), asked
        if not _is_yes(answer):
            raise DeclinedError(Message.of("said_no"))
        return seen

    async def _elicited(self, session: ServerSession, request_id: RequestId, text: str) -> ElicitResult:
        asked = next_request_id(session)
        try:
            with anyio.fail_after(self._answer_seconds):
                return await session.elicit_form(text, FORM, request_id)
        except TimeoutError as error:
            await cancel_request(session, asked, request_id)
            raise DeclinedError(Message.of("no_answer")) from error
        except anyio.get_cancelled_exc_class():
            await cancel_request(session, asked, request_id)
            raise
        except (McpError, ValidationError) as error:
            raise DeclinedError(Message.of("could_not_ask")) from error


def can_ask(session: ServerSession) -> bool:
    """Return whether the host asks its person with a form (MCP 2025-11-25, client/elicitation, "Capabilities")."""
    client = session.client_params
    elicitation = client.capabilities.elicitation if client else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def question(effect: Effect) -> str:
    """Return the question for the person, in English and in short in every other language."""
    named = [f"- {_short_path(item['path'])}" for item in effect.items[:MAX_NAMED]]
    more = effect.count - len(named)
    if named and more > 0:
        named.append(TEXTS.say("more_items", ORIGINAL, count=more))
    access = [f"{change}." for change in _access(effect, ORIGINAL)]
    shorts = [_short(effect, language) for language in OTHERS]
    return "\n".join([effect.summary, *named, *_difference(effect), *access, _undo(effect, ORIGINAL), *shorts])


def _difference(effect: Effect) -> list[str]:
    """Return the beginning of a text's changes, without the lines that name the file."""
    lines = (effect.diff or "").splitlines()[2:]
    shown = [display_name(line.expandtabs(4)[:MAX_CHARACTERS]) for line in lines[:MAX_DIFF_LINES]]
    return [*shown, "…"] if len(lines) > MAX_DIFF_LINES else shown


def _access(effect: Effect, language: Language) -> list[str]:
    """Return who gains and who loses access."""
    changes = (("gains_access", effect.gains_access), ("loses_access", effect.loses_access))
    return [TEXTS.say(code, language, people=_people(people, language)) for code, people in changes if people]


def _undo(effect: Effect, language: Language) -> str:
    return TEXTS.say("can_be_undone" if effect.reversible else "is_final", language)


def _short(effect: Effect, language: Language) -> str:
    does = render(effect.message, language) if effect.message else TEXTS.say("changes_drive", language)
    items = [TEXTS.say("items", language, count=effect.count)] if effect.count else []
    parts = [TEXTS.say("please_confirm", language, does=does), *items, *_access(effect, language)]
    undo = _undo(effect, language)
    return render(Message.joined("semicolons", [*parts, undo]), language) + undo[-1]


def _people(people: Iterable[str | Message], language: Language) -> str:
    shown = (one if isinstance(one, Message) else display_name(one) for one in people)
    return render(Message.joined("commas", shown), language)


def _short_path(path: str) -> str:
    """Return the path with its end, which has the name, if it is too long."""
    return display_name(path if len(path) <= MAX_CHARACTERS else f"…{path[-MAX_CHARACTERS:]}")


def _is_yes(answer: ElicitResult) -> bool:
    """Return whether the person accepted; a field that was not filled in may be null."""
    confirm = (answer.content or {}).get("confirm")
    return answer.action == "accept" and (confirm is None or confirm is True)
