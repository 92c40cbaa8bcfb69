"""The reasons why a server can't be used, each with a code, which has a sentence in every language."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Final, Literal

from drive_server.kernel.texts import Texts
from graph.errors import AgentError
from graph.language import Language
from graph.servers.pins import cleaned

ReasonCode = Literal[
    "address_refused",
    "backoff",
    "busy",
    "changed",
    "closed",
    "command_missing",
    "command_refused",
    "crashed",
    "definition",
    "environment_refused",
    "flood",
    "host_unknown",
    "http_status",
    "internal",
    "issuer",
    "memory",
    "no_pkce",
    "no_posix",
    "not_encrypted",
    "not_mcp",
    "not_registered",
    "processes",
    "protocol",
    "redirect",
    "refused",
    "sign_in",
    "sign_in_denied",
    "sign_in_failed",
    "sign_in_gone",
    "sign_in_unneeded",
    "tls",
    "timeout",
    "too_large",
    "unauthorized",
    "unreachable",
]

TEXTS: Final = Texts.beside(__file__)
MAX_DETAIL_CHARACTERS: Final = 500
MAX_LINES: Final = 10
MAX_LINE_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a server can't be used. A parameter may be a `Reason` itself.

    `detail` was written by the server: for the person only, never for a model.
    """

    code: ReasonCode
    params: Mapping[str, "str | int | Reason"] = field(default_factory=dict[str, "str | int | Reason"])
    detail: str = ""

    def sentence(self, language: Language = "en") -> str:
        """Return the sentence, with nothing in it that the server wrote."""
        shown = {
            name: value.sentence(language) if isinstance(value, Reason) else value
            for name, value in self.params.items()
        }
        return TEXTS.say(f"reason.{self.code}", language, **shown)

    def for_person(self, language: Language = "en") -> str:
        """Return the sentence, and after it the server's own words, if any."""
        return " ".join(filter(None, (self.sentence(language), cleaned(self.detail)[:MAX_DETAIL_CHARACTERS])))

    @property
    def last_lines(self) -> str:
        """Return the last lines that the server or its program wrote; empty if it wrote nothing."""
        lines = [line.rstrip() for line in cleaned(self.detail).splitlines() if line.strip()]
        return "\n".join(line[:MAX_LINE_CHARACTERS] for line in lines[-MAX_LINES:])


def timed_out(seconds: float) -> Reason:
    """Return the reason that no answer came in so many seconds; a part of one counts as a whole one."""
    return Reason("timeout", {"seconds": ceil(seconds)})


class FaultError(Exception):
    """Ends a connection to a server, for a reason that people can read."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.code)
        self.reason = reason


class ServerUnavailableError(AgentError):
    """A person's server can't be used, or did not answer; the reason says why.

    With `outcome_unknown` the call had been sent: it may have been carried out.
    """

    code = "server_unavailable"
    retryable = True

    def __init__(self, server_name: str, reason: Reason, *, outcome_unknown: bool = False) -> None:
        super().__init__(f"{server_name}: {reason.code}")
        self.server_name = server_name
        self.reason = reason
        self.outcome_unknown = outcome_unknown

    def __reduce__(self) -> tuple[object, ...]:
        state = {"language": self.language, "outcome_unknown": self.outcome_unknown}
        return type(self), (self.server_name, self.reason), state

    @property
    def sentence(self) -> str:
        """Return the sentence with the server and the reason in it, and nothing that the server wrote."""
        code = "unavailable.outcome_unknown" if self.outcome_unknown else "unavailable"
        return TEXTS.say(code, self.language, name=self.server_name, reason=self.reason.sentence(self.language))
