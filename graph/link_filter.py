"""Remove images, and links to hosts that are not allowed, from answers.

Text of a file can make a model write an address with the reader's data in it. A client fetches an image as soon as it
shows it, and a link at a click, so the filter removes both, in every form that Markdown (CommonMark 0.31, GFM's
autolinks) and HTML have for them. The note in their place names the host. The filter works on characters, not on a
parsed document: text that is an address to one reader but not to another counts as one, in code as well.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, cast
from urllib.parse import urlsplit

from langchain_core.messages import AIMessage

from graph.state import Language

LONGEST: Final = 2_000
LONGEST_TAG: Final = 500
"""Characters of an unfinished link that the filter holds back; a longer text is no link, and is broken up."""
LONGEST_HOST: Final = 60
"""Characters; a note does not name a longer host, which may itself be made of data."""

TEXTS: Final[dict[str, dict[Language, str]]] = {
    "link": {"en": "(link removed)", "zh": "（链接已移除）"},
    "host": {"en": "(link to {host} removed)", "zh": "（指向 {host} 的链接已移除）"},
    "image": {"en": "(image removed)", "zh": "（图片已移除）"},
}

_NOTES: Final = "|".join(
    re.escape(text).replace(r"\{host\}", r"[^()（）\s]+") for texts in TEXTS.values() for text in texts.values()
)
_REMOVED: Final = re.compile(rf"(?:\bhttps? ?)?(?:{_NOTES})")
"""A note, with the beginning of the address that passed before the filter recognised it."""

_COLON: Final = r"(?::|&colon;|&#0*58;?|&#[xX]0*3[aA];?)"
_SLASH: Final = r"(?:[/\\]|&sol;|&#0*47;?|&#[xX]0*2[fF];?)"
_STARTS: Final = re.compile(
    rf"(?P<image>!\[)|(?P<inline>\]\()|(?P<definition>\]:)|(?P<angle><)"
    rf"|(?P<bare>{_COLON}{_SLASH}{{2}}|(?:(?<=mailto)|(?<=xmpp)){_COLON}|(?<=www)\.|(?<![\w:/\\])//(?=\w[\w-]*\.))",
    re.IGNORECASE,
)
_INNER: Final = re.compile(rf"{_COLON}{_SLASH}{{2}}|www\.", re.IGNORECASE)
_SPECIAL: Final = re.compile(r"[\]!<:/\\&]|w\.|\A\.", re.IGNORECASE)
_CONTEXT: Final = 16
"""Characters before the held text that tell its form: the scheme of an address. Letters are never held back."""
_TAIL: Final = re.compile(rf"(?:!|\]|//[\w-]{{0,63}}|/|(?:{_COLON}{_SLASH}?)?(?:&\#?\w{{0,8}})?)\Z", re.IGNORECASE)
"""The end of a text that may begin a link, an image or a tag."""
_LONGEST_TAIL: Final = 80
_SCHEME_BEFORE: Final = re.compile(r"[a-z][a-z0-9+.-]*\Z", re.IGNORECASE)
_TITLE: Final = r"""(?:"[^"]*"|'[^']*'|\([^()]*\))"""
_DESTINATION: Final = r"(?:<[^<>\n]*>|(?:[^\s()<\\]|\\.|\([^\s()]*\))(?:[^\s()\\]|\\.|\([^\s()]*\))*+)"
_INLINE: Final = re.compile(rf"\]\(\s*({_DESTINATION}?)(?:\s+{_TITLE})?\s*\)", re.DOTALL)
_INLINE_SO_FAR: Final = re.compile(
    rf"\]\(\s*(?:<[^<>\n]*|{_DESTINATION}?(?:\\|\([^\s()]*)?|{_DESTINATION}\s+(?:\"[^\"]*|'[^']*|\([^()]*|{_TITLE}\s*)?)\Z",
    re.DOTALL,
)
_DEFINITION: Final = re.compile(
    rf"\]:[ \t]*(?:\r?\n)?[ \t]*(<[^<>\n]{{0,{LONGEST}}}>|[^\s<\[\]][^\s\[\]]{{0,{LONGEST}}})(?=\s|\Z)"
)
_DEFINITION_SO_FAR: Final = re.compile(r"\]:[ \t]*(?:\r?\n?)?[ \t]*(?:<[^<>\n]*>?|[^\s<\[\]][^\s\[\]]*)?\Z")
_NO_DEFINITION: Final = re.compile(r"\]:[ \t]*(?:\r?\n)?[ \t]*(?:[\r\n\[\]<]|\Z)")
_TAG: Final = re.compile(r"""<[a-z](?:[^<>"'\n]|"[^"\n]*"|'[^'\n]*')*+>""", re.IGNORECASE)
_TAG_SO_FAR: Final = re.compile(
    r"""<(?:[a-z](?:[^<>"'\n]|"[^"\n]*"|'[^'\n]*')*+(?:"[^"\n]*|'[^'\n]*)?)?\Z""", re.IGNORECASE
)
_IMAGE_TAG: Final = re.compile(r"<(?:img|image|picture)\b", re.IGNORECASE)
_ACTIVE_TAG: Final = re.compile(
    r"<(?:script|style|i?frame|frameset|object|embed|applet|portal|link|meta|base|form|svg|math|template|video|audio"
    r"|source|track|input|button|body|html|head)\b",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(r"""=\s*("[^"]*"|'[^']*'|[^\s>]+)""")
_HANDLER: Final = re.compile(r"[\s/\"'](?:on[a-z]+\s*=|style\s*=[^>]*[(@\\])", re.IGNORECASE)
_BARE: Final = re.compile(
    rf"(?:{_COLON}{_SLASH}{{2}}\[[^\s\]]*\]?)?" r"[^\s<>\"`|\]\[{}^（）「」『』《》【】“”‘’，。、；：！？]*",
    re.IGNORECASE,
)
"""A host in brackets is an address of IPv6 (RFC 3986, 3.2.2)."""
_FOLLOWS: Final = re.compile(r"[^\s<>\"`|]")
_TRAILING: Final = re.compile(r"(?:[.,;:!?'*_~)]|&(?:quot|gt|lt|apos);)+\Z")
_IGNORED: Final = re.compile(r"[\x00-\x20\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u2060-\u2064\ufeff]+")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_WEB: Final = re.compile(r"https?://([\w.-]+)(?::(\d{1,5}))?(?:[/?#].*)?\Z", re.IGNORECASE | re.DOTALL)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:(?=.)", re.IGNORECASE | re.DOTALL)
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?\Z")
_LINKED_NAME: Final = re.compile(r"(?:www\.)+")
"""Clients make links of such names by themselves."""
_ASKED: Final = re.compile(r"https?://[^\s<>\"`（）「」《》【】“”，。；！？]+", re.IGNORECASE)
_PORTS: Final = {"http": "80", "https": "443"}
_OWN: Final = "drive://"


class HostAllowlist:
    """The hosts (`example.com`, `example.com:8000`, `*.example.com`) and single addresses that links may lead to.

    A host without a port means the usual ports. `addresses` are those that the person wrote; they match in full only.
    """

    def __init__(self, hosts: Iterable[str] = (), addresses: Iterable[str] = ()) -> None:
        listed = {host.strip().lower().rstrip(".") for host in hosts} - {""}
        self._hosts = frozenset(host for host in listed if not host.startswith("*."))
        self._domains = tuple(host[1:] for host in listed if host.startswith("*."))
        self._addresses = frozenset(addresses)

    def with_addresses_in(self, message: str) -> "HostAllowlist":
        """Return the same hosts with the addresses in a person's message."""
        hosts = HostAllowlist(addresses={_TRAILING.sub("", found) for found in _ASKED.findall(message)})
        hosts._hosts, hosts._domains = self._hosts, self._domains
        return hosts

    def allows(self, address: str) -> bool:
        """Return whether a link may lead there. An address without scheme and host stays in the reader's own place."""
        plain = _plain(address)
        if plain in self._addresses or plain.startswith((_OWN, "#")):
            return True
        slashes = plain.replace("\\", "/")
        if not _SCHEME.match(slashes):
            return not slashes.startswith("//")
        found = _WEB.match(plain)
        return found is not None and self._has_host(found[1].lower().rstrip("."), found[2], plain)

    def is_from_person(self, address: str) -> bool:
        """Return whether the person wrote this very address."""
        return _plain(address) in self._addresses

    def _has_host(self, host: str, port: str | None, address: str) -> bool:
        usual = _PORTS[address.partition(":")[0].lower()]
        if f"{host}:{port or usual}" in self._hosts:
            return True
        return port in {None, usual} and (host in self._hosts or host.endswith(self._domains))


def host_allowlist(listed: str, public_url: str) -> HostAllowlist:
    """Return the drive's own host and those of a comma-separated list."""
    return HostAllowlist([host_of(public_url), *listed.split(",")])


def host_of(address: str) -> str:
    """Return the host and port of an address, as an allowlist names them."""
    return urlsplit(address).netloc.rpartition("@")[2]


def _plain(address: str) -> str:
    """Return the address as a browser reads it: without entities, escapes, and characters that it ignores."""
    return _IGNORED.sub("", _ESCAPED.sub(r"\1", html.unescape(address.strip().removeprefix("<").removesuffix(">"))))


class LinkFilter:
    """Filters a text delta by delta. The joined output does not depend on where the deltas were cut."""

    def __init__(self, hosts: HostAllowlist, language: Language) -> None:
        self._hosts = hosts
        self._language: Language = language
        self._held = ""
        self._before = ""
        self._forms: dict[str, Callable[[str, int, bool], tuple[str, int] | None]] = {
            "image": self._image,
            "inline": self._inline,
            "definition": self._definition,
            "angle": self._angle,
            "bare": self._bare,
        }

    def feed(self, delta: str) -> str:
        """Return the text that may be sent now; the end of it may be held back."""
        if self._held or _SPECIAL.search(delta):
            return self._release(delta, final=False)
        self._before = (self._before + delta)[-_CONTEXT:]
        return delta

    def end(self) -> str:
        """Return the text that was held back. The next delta begins another text."""
        rest = self._release("", final=True) if self._held else ""
        self._before = ""
        return rest

    def clean(self, text: str) -> str:
        """Return a whole text filtered."""
        return self.feed(text) + self.end()

    def _release(self, delta: str, *, final: bool) -> str:
        text = self._before + self._held + delta
        first = at = len(self._before)
        parts: list[str] = []
        while found := _STARTS.search(text, at):
            parts.append(text[at : found.start()])
            done = self._forms[str(found.lastgroup)](text, found.start(), final)
            if done is None:
                at = found.start()
                break
            parts.append(done[0])
            at = done[1]
        else:
            until = len(text) if final else max(at, _tail_of(text))
            parts.append(text[at:until])
            at = until
        self._held = text[at:]
        if at > first:
            self._before = text[max(0, at - _CONTEXT) : at]
        return "".join(parts)

    def _image(self, text: str, at: int, final: bool) -> tuple[str, int] | None:
        """Turn the image into a link, which is then checked as one. An exclamation mark before a bracket stays."""
        del final
        return ("[" if at == 0 or text[at - 1].isspace() else "! ["), at + 2

    def _inline(self, text: str, at: int, final: bool) -> tuple[str, int] | None:
        found = _INLINE.match(text, at)
        if found is None:
            return self._unfinished(_INLINE_SO_FAR, text, at, final, "] (", 2)
        if self._hosts.allows(found[1]):
            return "](", at + 2
        return f"] {self._removed(found[1])}", found.end()

    def _definition(self, text: str, at: int, final: bool) -> tuple[str, int] | None:
        found = _DEFINITION.match(text, at)
        if found is None or (found.end() == len(text) and not final):
            broken = "]:" if _NO_DEFINITION.match(text, at) else "] :"
            return self._unfinished(_DEFINITION_SO_FAR, text, at, final, broken, 2)
        if self._hosts.allows(found[1]):
            return "]:", at + 2
        return f"]: {self._removed(found[1])}", found.end()

    def _angle(self, text: str, at: int, final: bool) -> tuple[str, int] | None:
        found = _TAG.match(text, at)
        broken = "< " if text[at + 1 : at + 2].isalpha() else "<"
        if found is None:
            return self._unfinished(_TAG_SO_FAR, text, at, final, broken, 1, LONGEST_TAG)
        tag = found[0]
        if _IMAGE_TAG.match(tag):
            return TEXTS["image"][self._language], found.end()
        if _ACTIVE_TAG.match(tag):
            return broken, at + 1
        elsewhere = next((address for address in _addresses(tag) if not self._hosts.allows(address)), None)
        if elsewhere is None and not _HANDLER.search(tag):
            return tag, found.end()
        return self._removed(elsewhere or ""), found.end()

    def _bare(self, text: str, at: int, final: bool) -> tuple[str, int] | None:
        found = _BARE.match(text, at)
        end = found.end() if found else at
        if end == len(text) and not final and end - at < LONGEST:
            return None
        rest = _TRAILING.sub("", text[at:end])
        if not rest.strip(":/\\."):
            # No host, but some client may read one in the text that follows.
            return text[at:end] + (" " if _FOLLOWS.match(text, end) else ""), end
        scheme = _SCHEME_BEFORE.search(text[max(0, at - _CONTEXT) : at])
        address = f"{scheme[0] if scheme else ''}{rest}"
        address = f"http://{address}" if address[:4].lower() == "www." else address
        # Clients disagree on where one address ends and the next begins.
        is_one = self._hosts.is_from_person(address) or not _INNER.search(rest, 1)
        if is_one and _SCHEME.match(_plain(address)) and self._hosts.allows(address):
            return rest, at + len(rest)
        space = " " if self._language == "en" and at and not text[at - 1].isspace() else ""
        return f"{space}{self._removed(address)}", at + len(rest)

    def _unfinished(
        self, so_far: re.Pattern[str], text: str, at: int, final: bool, broken: str, length: int, longest: int = LONGEST
    ) -> tuple[str, int] | None:
        """Hold back what may become a link; break up what does not."""
        if not final and len(text) - at < longest and so_far.match(text, at):
            return None
        return broken, at + length

    def _removed(self, address: str) -> str:
        plain = _plain(address).replace("\\", "/")
        if plain.lower().startswith("mailto:"):
            return plain[len("mailto:") :].partition("?")[0]
        host = re.split(r"[/?#]", plain.partition("//")[2], maxsplit=1)[0].rpartition("@")[2].lower()
        host = _LINKED_NAME.sub("", host)
        if len(host) > LONGEST_HOST or not _HOST.match(host):
            return TEXTS["link"][self._language]
        return TEXTS["host"][self._language].format(host=host)


def with_omissions(text: str) -> str:
    """Return a filtered text with `…` for each removed address, as a quotation leaves it out."""
    return _REMOVED.sub("…", text)


def filter_answer(answer: AIMessage, link_filter: LinkFilter) -> AIMessage:
    """Return a model's answer with its text filtered, whether its content is a string or blocks."""
    if isinstance(answer.content, str):
        content: Any = link_filter.clean(answer.content)
    else:
        content = [_filter_block(block, link_filter) for block in cast("list[Any]", answer.content)]
    return answer if content == answer.content else answer.model_copy(update={"content": content})


def _filter_block(block: Any, link_filter: LinkFilter) -> Any:
    if isinstance(block, str):
        return link_filter.clean(block)
    if isinstance(block, dict) and isinstance(text := cast("dict[str, Any]", block).get("text"), str):
        return {**block, "text": link_filter.clean(text)}
    return block


def _tail_of(text: str) -> int:
    """Return where a link may begin at the end of a text; its length, if nowhere."""
    found = _TAIL.search(text, max(0, len(text) - _LONGEST_TAIL))
    return found.start() if found else len(text)


def _addresses(tag: str) -> Iterator[str]:
    """Yield the possible addresses of a tag: the tag itself (`<https://...>`), its values, and their parts."""
    if _SCHEME.match(tag, 1):
        yield tag
    for value in _VALUE.findall(tag):
        whole = value.strip("\"'")
        yield whole
        yield from (part for part in re.split(r"[\s,]+", whole) if part)
