"""One call of a tool: its caller, the person's consent, and its answer."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, fields
from functools import partial
from typing import Any, TypeVar

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.session import ServerSession
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, PrivateAttr
from starlette.requests import Request

from drive_server.kernel.access import Actor, Principal
from drive_server.kernel.context import META_CHANGE_ID, META_EFFECT, META_REPLAYED
from drive_server.kernel.errors import DriveError
from drive_server.kernel.messages import Message, translations
from drive_server.kernel.risks import Asks
from drive_server.mcp.calls.authentication import IN_PROCESS, Authenticator, DriveRequest, actor_of
from drive_server.mcp.calls.consent import Consent, can_ask
from drive_server.mcp.calls.progress import CallProgress, progress_sender
from drive_server.mcp.calls.purging import require_purge
from drive_server.mcp.calls.sampling import HostModel, can_sample
from drive_server.mcp.lean_results import lean
from drive_server.models.changes import Effect, Outcome
from drive_server.services.map_reduce.language_model import LanguageModel
from drive_server.services.progress import Progress

T = TypeVar("T")


class Call(Context[ServerSession, Any, Request]):
    """The context of a call: a tool gets it besides its arguments."""

    _tool: str = PrivateAttr()
    _authenticator: Authenticator = PrivateAttr()
    _consent: Consent = PrivateAttr()
    _asks: Asks = PrivateAttr()
    _purges: bool = PrivateAttr()
    _progress: CallProgress = PrivateAttr()
    _read_ids: list[str] = PrivateAttr(default_factory=list[str])

    def __init__(
        self,
        request: DriveRequest,
        server: FastMCP[Any],
        tool: str,
        authenticator: Authenticator,
        consent: Consent,
        asks: Asks = "always",
        *,
        purges: bool = False,
    ) -> None:
        super().__init__(request_context=request, fastmcp=server)
        self._tool = tool
        self._authenticator = authenticator
        self._consent = consent
        self._asks = asks
        self._purges = purges
        self._progress = CallProgress(
            progress_sender(request.session, request.meta.progressToken if request.meta else None, request.request_id)
        )

    @property
    def progress(self) -> Progress:
        """The receiver of progress; a cancelled call ends there."""
        return self._progress

    @property
    def read_ids(self) -> list[str]:
        """The ids of files that the answer is made of and does not list; the tool adds them."""
        return self._read_ids

    async def actor(self) -> Actor:
        """Return the caller, with the facts of the request's `_meta`. Raises `UnauthenticatedError`."""
        request = self.request_context
        principal = await self._authenticator.principal(request)
        return actor_of(principal, self._tool, (request.meta and request.meta.model_extra) or {})

    def transport_principal(self) -> Principal | None:
        """Return the principal that the transport proves, None where the session has to sign in."""
        return self._authenticator.transport_principal(self.request_context)

    def host_model(self, silent_seconds: float) -> LanguageModel | None:
        """Return the model that the host lends, None if it lends none."""
        if not can_sample(self.session):
            return None
        return HostModel(self.session, self.request_context.request_id, silent_seconds)

    async def reauthenticate(self) -> None:
        """Raise `UnauthenticatedError` if the caller's key has ended since the call began."""
        await self._authenticator.reauthenticate(self.request_context)

    async def sign_in(self, key: str) -> Principal:
        """Let this session act with the key from now on. Raises `UnauthenticatedError`."""
        return await self._authenticator.sign_in(self.session, key)

    async def agreed(self, actor: Actor, operation: Callable[[Actor], Awaitable[Outcome[T]]]) -> Outcome[T]:
        """Run the operation, after asking the person at an outside host that can ask, if the tool's record says so.

        The assistant inside this process has asked already; a host that can't ask is held by the scopes of its key.
        Raises `DeclinedError`, `MissingScopeError` for a deletion for good that nobody is asked about, and
        `EtagMismatchError` if the effect is no longer the one shown.
        """
        if self._purges:
            require_purge(actor, is_asked=can_ask(self.session))
        if self._asks == "never" or is_settled(actor, self.session):
            return await operation(actor)
        async with self._consent.turn(actor):
            return await operation(await self._approved(actor, operation))

    async def _approved(self, actor: Actor, operation: Callable[[Actor], Awaitable[Outcome[Any]]]) -> Actor:
        self._progress.is_muted = True
        request_id = self.request_context.request_id
        when_shared = self._asks == "when_shared"
        approved = await self._consent.approved(self.session, request_id, actor, operation, when_shared=when_shared)
        self._progress.is_muted = False
        return approved


def is_settled(actor: Actor, session: ServerSession) -> bool:
    """Say whether nobody is asked about any call: in a rehearsal, by the assistant, at a host that can't ask."""
    return actor.dry_run or actor.principal.method == IN_PROCESS or not can_ask(session)


def answer(
    actor: Actor,
    text: str,
    result: BaseModel,
    detail: str | Callable[[], str] = "",
    to_lean: Callable[[BaseModel], dict[str, Any]] = lean,
) -> CallToolResult:
    """Return the structured result with a short text, or with `detail` for hosts that show their model only texts.

    Hosts get the result as `to_lean` makes it, unless they ask for the whole.
    """
    shown = text
    structured = result.model_dump(mode="json") if actor.whole_results else to_lean(result)
    if detail and actor.principal.method != IN_PROCESS:
        more = detail if isinstance(detail, str) else detail()
        shown = f"{text}\n{more}" if more else text
    return CallToolResult(content=[TextContent(type="text", text=shown)], structuredContent=structured)


def changed(
    actor: Actor, outcome: Outcome[Any], text: str, result: BaseModel, detail: str | Callable[[], str] = ""
) -> CallToolResult:
    """Return the answer of a change; `_meta` has its number in the journal, or the effect of a dry run."""
    answered = answer(actor, _text(outcome, text), result, detail, partial(lean, is_change=True))
    meta: dict[str, Any] = {META_REPLAYED: outcome.replayed}
    if outcome.change_id is not None:
        meta[META_CHANGE_ID] = outcome.change_id
    if outcome.effect is not None:
        meta[META_EFFECT] = _effect_on_wire(outcome.effect)
    answered.meta = meta
    return answered


def _effect_on_wire(effect: Effect) -> dict[str, Any]:
    people = {"gains_access": effect.gains_access, "loses_access": effect.loses_access}
    shown = {
        **{item.name: getattr(effect, item.name) for item in fields(effect)},
        **{name: [one.en if isinstance(one, Message) else one for one in group] for name, group in people.items()},
        "summary": effect.summary,
        "touches": None if effect.touches is None else [asdict(touch) for touch in effect.touches],
    }
    del shown["message"]
    groups = {name: Message.joined("commas", group) for name, group in people.items() if group}
    return {**shown, "messages": translations({"summary": effect.message, **groups})}


def refused(error: DriveError) -> CallToolResult:
    """Return the error as a tool answers it; the text alone is enough for hosts that drop the structure."""
    text = " ".join(part for part in (f"{error.code}: {error.message}", error.hint) if part)
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structuredContent=error.to_dict(), isError=True
    )


def _text(outcome: Outcome[Any], text: str) -> str:
    if outcome.effect is not None:
        return f"Nothing was changed. This would: {outcome.effect.summary}"
    return f"{text} This call was made before; nothing was done again." if outcome.replayed else text
