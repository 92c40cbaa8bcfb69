"""The addresses to which a program has the browser led back, with the code."""

from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from pydantic import AnyUrl, ValidationError

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
MAX_CHARACTERS: Final = 1000
MAX_ADDRESSES: Final = 20
DANGEROUS: Final = frozenset(
    {"about", "blob", "chrome", "data", "file", "filesystem", "ftp", "intent", "javascript", "vbscript", "view-source"}
)
"""Schemes that run a script, or open no program: none of them leads back to one."""
ANSWER: Final = frozenset({"code", "error", "iss", "state"})
"""Parameters of the answer, which an address must not have already: its reader might take the wrong one."""


def is_usable(uri: str) -> bool:
    """Return whether a program may be led back to there.

    By https, by http on the person's own machine, or by a scheme of the program's own (RFC 8252, 7); without fragment
    (RFC 6749, 3.1.2), name or password, and without parameters of the answer.
    """
    parts = _split(uri)
    if parts is None or len(uri) > MAX_CHARACTERS or parts.fragment or "#" in uri or parts.username is not None:
        return False
    if ANSWER.intersection(name for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        return False
    if parts.scheme in {"http", "https"}:
        return bool(parts.hostname) and (parts.scheme == "https" or parts.hostname in LOOPBACK)
    return bool(parts.scheme) and parts.scheme not in DANGEROUS


def is_same(registered: str, asked: str) -> bool:
    """Return whether the addresses are the same as browsers read them; on loopback by any port (RFC 8252, 7.3).

    No address stands for those below it, or for others of its host.
    """
    known, wanted = _normal(registered), _normal(asked)
    if known is None or wanted is None or not is_usable(asked):
        return False
    if known == wanted:
        return True
    first, second = urlsplit(known), urlsplit(wanted)
    is_loopback = first.scheme == second.scheme == "http" and first.hostname in LOOPBACK
    rest = (first.path, first.query) == (second.path, second.query)
    return is_loopback and first.hostname == second.hostname and rest


def host_of(uri: str) -> str:
    """Return the host that an address leads to, empty for one on the person's own machine or of an own scheme."""
    parts = _split(uri)
    host = (parts.hostname or "") if parts is not None and parts.scheme in {"http", "https"} else ""
    return "" if host in LOOPBACK else host


def source_of(uri: str) -> str:
    """Return the address as a source of a Content-Security-Policy: its origin, or its scheme."""
    parts = urlsplit(uri)
    has_name = parts.scheme in {"http", "https"} and ":" not in (parts.hostname or "")
    # The policy's grammar has no addresses of IPv6.
    return f"{parts.scheme}://{parts.netloc}" if has_name else f"{parts.scheme}:"


def with_answer(uri: str, answer: dict[str, str]) -> str:
    """Return the address with the parameters of the answer behind its own."""
    own, _, _ = uri.partition("#")
    return f"{own}{'&' if '?' in own else '?'}{urlencode(answer)}"


def _normal(uri: str) -> str | None:
    """Return the address as browsers write it: with a slash for no path, and without the port of its scheme."""
    try:
        return str(AnyUrl(uri))
    except ValidationError:
        return None


def _split(uri: str) -> SplitResult | None:
    """Return the parts; None if it is no address, or if browsers read it otherwise."""
    if not uri.isascii() or not uri.isprintable() or " " in uri or "\\" in uri:
        return None
    try:
        parts = urlsplit(uri)
        _ = parts.port, parts.hostname
    except ValueError:
        return None
    return parts
