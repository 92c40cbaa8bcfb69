"""The link filter. Text from a file can make a model write an address that carries the reader's data to a third party.

An image is fetched at once and a link takes one click, so an address outside the allowlist may be neither, in any form
that Markdown (CommonMark 0.31, GFM's autolinks) and HTML have for it. It stays in the text, inert: as inline code,
which people read and copy and no reader makes a link of. The filter finds more than any one reader does and only adds
to the text (backticks and spaces) outside of code, so it finds its own output inert: `clean(clean(x)) == clean(x)`.
"""

import re
from typing import Any, Final, cast

from langchain_core.messages import AIMessage

from graph.links.allowlist import TRAILING, HostAllowlist
from graph.links.bidi import BidiFilter, without_overrides
from graph.links.markdown_code import LONGEST, MarkdownCode, Step

MAX_TAG: Final = 500
"""Characters of a tag that the filter waits for; a longer one is broken up."""
_MAX_WORD: Final = 255
_PIECE: Final = 4_096

_COLON: Final = r"(?::|&colon;|&#0{0,5}58;?|&#x0{0,4}3a;?)"
_SLASH: Final = r"(?:\\?[/\\]|&sol;|&#0{0,5}47;?|&#x0{0,4}2f;?)"
_LETTER: Final = r"[A-Za-z0-9._-]"
_MAIL: Final = rf"(?:(?<=mailto)|(?<=xmpp)){_COLON}"
_TOP_LEVEL: Final = (
    r"(?:[рР][фФ]|(?:biz|com|edu|gov|net|org|pro|web|xxx|aero|asia|coop|info|museum|name|shop|xn--[a-z0-9-]{1,59})"
    r"(?![A-Za-z0-9@]|[._-]+[A-Za-z0-9@]))"
)
_BARE: Final = "|".join(
    [
        rf"(?<!{_LETTER})(?:{_LETTER}{{0,{_MAX_WORD}}}+(?:{_COLON}{_SLASH}{{2}}|{_MAIL})"
        rf"|(?:[a-vx-z0-9._-]|w(?!ww\.)){{0,{_MAX_WORD}}}+www\."
        rf"|(?:(?<![@/]){_LETTER}{{0,{_MAX_WORD}}}[A-Za-z0-9_-]|(?<=[^\x00-\x7f])(?!\.[a-z]+[\u3400-\u9fff]))\."
        rf"(?:{_TOP_LEVEL}|[A-Za-z]{{2}}(?=(?::\d{{1,5}})?[/?#]\S)))",
        rf"{_COLON}{_SLASH}{{2}}",
        _MAIL,
        rf"(?<![A-Za-z0-9:/\\]){_SLASH}{{2}}(?=[^\s/\\<`])",
    ]
)
"""An address in running text. Hosts without a scheme are those that markdown-it's linkify takes for one; names of files
(`README.md`) look like hosts of countries, so of these only the ones with a path count."""
_BROKEN: Final = (
    r"&(?=#0{0,5}(?:4[35689]|5[0-7]|6[5-9]|[78]\d|9[057-9]|1[01]\d|12[0-2])(?!\d)"
    r"|#x0{0,4}(?:2[bde]|3\d|[46][1-9a-f]|[57][\da]|5f)(?![\da-f])|period;)"
    r"|(?<=[^\s:/\\])\\(?=[.:][A-Za-z0-9рР])|(?<=www)\\(?=\.)"
    rf"|(?=\.)(?<={_LETTER}{{{_MAX_WORD}}})"
)
"""Before it a word is broken up: the signs that spell a letter or a dot, and the dot of a word that is too long."""
_STARTS: Final = re.compile(
    r"(?P<fence>(?<![^\n]) {0,3}(?:```|~~~))|(?P<blank>(?<=\n)[ \t]*\r?\n)"
    r"|(?P<edge>(?<![^\n]) {1,3}(?:`{1,2}|~{1,2})\Z)|(?P<code_run>`)|(?P<tilde>~~~)"
    r"|(?P<image>!\[)|(?P<inline>\]\()|(?P<definition>\]:)|(?P<angle><(?=[A-Za-z/!?]))"
    rf"|(?P<broken>{_BROKEN})|(?P<bare>{_BARE})",
    re.IGNORECASE | re.ASCII,
)
_SPECIAL: Final = re.compile(r"[`~!\]<:&/\\.\n\r]")
"""A text with none of these has no beginning of an address."""
_WORD_LETTERS: Final = "".join(chr(code) for code in range(33, 127) if re.match(_LETTER, chr(code)))
_LONE_RETURN: Final = re.compile(r"\r(?!\n)")
_ENTITY: Final = r"&[#\w]{0,9};?"
_TAIL: Final = re.compile(
    rf"(?:(?<![^\n])[ \t]+\r?|[!\]<\r]|~{{1,2}}"
    rf"|(?:(?<!{_LETTER}){_LETTER}{{1,{_MAX_WORD}}}+(?:[рР]|:\d{{0,5}})?)?(?::|{_ENTITY})?(?:\\?[/\\]|\\[.:]|{_ENTITY}){{0,2}}[?#]?)\Z"
)
"""The end of a text that may begin something: a word too, as it may be the scheme or the host of an address."""
_MAX_TAIL: Final = 320
_REACH: Final = re.compile(rf"[^\s<]{{0,{LONGEST}}}", re.ASCII)
"""As far as any reader lets an address go."""
_EXTENT: Final = re.compile(
    rf"{_LETTER}*(?:{_COLON}{_SLASH}{{2}}\[[^\s\]<`|]*\]?)?[^\s<>\"`|\]\[{{}}^（）「」『』《》【】“”‘’，。、；：！？]*",
    re.IGNORECASE,
)
"""As far as people see one go. A host in brackets is an address of IPv6 (RFC 3986, 3.2.2)."""
_INLINE: Final = re.compile(rf"\]\(([^\s()<>`]{{0,{LONGEST}}})(?:(\))|\Z)?")
_DEFINITION: Final = re.compile(rf"\]:[\s>]{{0,{LONGEST}}}([^\s]{{0,{LONGEST}}})", re.ASCII)
_NO_ADDRESS: Final = re.compile(r"[^:/\\&<`]*:?\Z")
_TAG: Final = re.compile(rf"<([^<>`|\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]{{0,{MAX_TAG}}})(?:(>)|\Z)?")
_FORMATTING: Final = re.compile(
    r"/?(?:b|i|u|s|em|strong|del|ins|sub|sup|kbd|mark|small|br)[ \t]*/?\Z", re.IGNORECASE | re.ASCII
)
_AUTOLINK: Final = re.compile(r"[^\s:]+://(?:(?!://)\S)*\Z")
_SPAN: Final = re.compile(r" ?\(?(?<!`)(`+)(?!`)([^`\n]+)\1(?!`)\)?")


class LinkFilter:
    """Filters a text delta by delta. The joined output does not depend on where the deltas were cut.

    `end` ends one text. Some clients show the next one right behind it, so nothing can be made of the two: the
    filter goes on where it was.
    """

    def __init__(self, hosts: HostAllowlist) -> None:
        self._hosts = hosts
        self._code = MarkdownCode()
        self._held = ""
        self._before = ""
        self._return = ""
        self._bidi = BidiFilter()

    def feed(self, delta: str) -> str:
        """Return the text that may be sent now; the end of it may be held back."""
        return self._feed(self._bidi.feed(delta))

    def _feed(self, delta: str) -> str:
        text = self._held + delta
        if not (_SPECIAL.search(text) or self._code.fence or self._return or text.isspace()):
            return self._words(text)
        delta = self._return + delta
        self._return = "\r" if delta.endswith("\r") else ""
        delta = _LONE_RETURN.sub("\n", delta.removesuffix("\r"))
        return "".join(self._release(delta[at : at + _PIECE]) for at in range(0, len(delta), _PIECE))

    def end(self) -> str:
        """Return the text that was held back, and close an open fence. The next delta begins another text."""
        closing = self._feed(self._bidi.end())
        rest = closing + self._release("\n" if self._return else "", final=True)
        self._return = ""
        line = self._code.close(self._before[-1:])
        self._note(line)
        return rest + line

    def another(self) -> "LinkFilter":
        """Return a filter for another text, which allows the same."""
        return LinkFilter(self._hosts)

    def clean(self, text: str) -> str:
        """Return a whole text filtered, for itself."""
        text = without_overrides(text)
        if not _SPECIAL.search(text):
            return text
        other = self.another()
        return other.feed(text) + other.end()

    def _words(self, text: str) -> str:
        """Hold back the last word of a text without special characters."""
        end = len(text.rstrip(_WORD_LETTERS))
        if len(text) - end > _MAX_WORD or (end == 0 and self._before and self._before[-1] in _WORD_LETTERS):
            end = len(text)
        self._held = text[end:]
        if end:
            self._note(text[:end])
        return text[:end]

    def _release(self, delta: str, *, final: bool = False) -> str:
        parts: list[str] = []
        self._held += delta
        while self._held and (step := self._step(self._before + self._held, len(self._before), final=final)):
            written, length = step
            parts.append(written)
            self._held = self._held[length:]
            self._note(written)
        return "".join(parts)

    def _note(self, written: str) -> None:
        """Keep the last characters written, enough to recognise an address that continues in the next piece."""
        self._before = (self._before + written)[-_MAX_WORD:]

    def _step(self, text: str, at: int, *, final: bool) -> Step | None:
        """Return the text to write next, and how many characters it replaces; None if later text decides."""
        if self._code.fence:
            end, _ = self._code.read_fence(text, at, final=final)
            # A fence may be over before its first character.
            return (text[at:end], end - at) if end > at or not self._code.fence else None
        found = _STARTS.search(text, at)
        if found is None:
            end = len(text) if final else max(at, _tail_of(text, at))
            return (text[at:end], end - at) if end > at else None
        if found.start() > at:
            return text[at : found.start()], found.start() - at
        return getattr(self, f"_{found.lastgroup}")(text, found, final)

    def _fence(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        return self._code.open_fence(text, found.start(), final=final)

    def _blank(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        del text, final
        self._code.used.clear()
        return found[0], len(found[0])

    def _code_run(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        return self._code.run(text, found.start(), final=final)

    def _edge(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        """Wait for the rest of a possible fence."""
        del text
        indent = found[0].rstrip("`~")
        return (indent, len(indent)) if final else None

    def _tilde(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        """Break up a possible fence of some readers: its info string is an attribute."""
        del text, found, final
        return "~~ ", 2

    def _broken(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        del text, final
        return f"{found[0]} ", len(found[0])

    def _image(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        """Turn the image into a link, which is then checked as one. An exclamation mark before a bracket stays."""
        del final
        return ("[" if found.start() == 0 or text[found.start() - 1].isspace() else "! ["), 2

    def _inline(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        link = _INLINE.match(text, found.start())
        assert link is not None  # noqa: S101 - it matches wherever `found` does
        if link.end() == len(text) and not link[2] and not final and len(link[0]) < LONGEST:
            return None
        if link[2] and self._hosts.allows(link[1]):
            return link[0], len(link[0])
        return "] (", 2

    def _definition(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        link = _DEFINITION.match(text, found.start())
        assert link is not None  # noqa: S101 - it matches wherever `found` does
        if link.end() == len(text) and not final and len(link[0]) < LONGEST:
            return None
        target = link[1]
        is_plain = not _STARTS.search(target) and (_NO_ADDRESS.match(target) or self._hosts.allows(target))
        return ("]:", 2) if is_plain or self._is_allowed(target) else ("] ", 1)

    def _angle(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        at = found.start()
        tag = _TAG.match(text, at)
        assert tag is not None  # noqa: S101 - it matches wherever `found` does
        if tag.end() == len(text) and not final and (tag[2] or len(tag[1]) < MAX_TAG):
            return None
        before, after = text[max(0, at - 1) : at], text[tag.end() : tag.end() + 1]
        if not tag[2]:
            return "< ", 1
        # A tag alone on its line begins a block of HTML, in which nothing is code.
        if _FORMATTING.match(tag[1]) and (before.isalpha() or after.strip()):
            return tag[0], len(tag[0])
        if _AUTOLINK.match(tag[1]) and self._is_allowed(tag[1]):
            return tag[0], len(tag[0])
        return self._code.wrap(tag[0], before, after), len(tag[0])

    def _is_allowed(self, address: str) -> bool:
        return self._hosts.own_length(address) > 0 or self._hosts.is_from_person(address)

    def _bare(self, text: str, found: re.Match[str], final: bool) -> Step | None:
        at = found.start()
        reach = _REACH.match(text, at)
        assert reach is not None  # noqa: S101 - the pattern matches nothing, too
        if reach.end() == len(text) and not final and len(reach[0]) < LONGEST:
            return None
        whole = TRAILING.sub("", reach[0])
        scheme = "" if "://" in found[0] else "https:" if found[0][:2] == "//" else "http://"
        if self._hosts.is_from_person(whole):
            return whole, len(whole)
        # Readers take a letter of another script for a part of the host.
        is_whole = len(reach[0]) < LONGEST and not (scheme and text[at - 1 : at].isalnum())
        if is_whole and (length := self._hosts.own_length(scheme + whole)):
            length = max(length - len(scheme), 1)
            return text[at : at + length], length
        address = _address_at(text[: reach.end()], at, max(found.end(), at + 1))
        before, after = text[max(0, at - 1) : at], text[at + len(address) : at + len(address) + 1]
        return self._code.wrap(address, before, after), len(address)


def _address_at(text: str, at: int, least: int) -> str:
    """Return the address as people see it: to a parenthesis that it did not open, without punctuation at its end."""
    found = _EXTENT.match(text, at)
    whole = found[0] if found else ""
    opened = 0
    for index, sign in enumerate(whole):
        opened += (sign == "(") - (sign == ")")
        if opened < 0:
            whole = whole[:index]
            break
    shown = whole if whole.endswith(")") else TRAILING.sub("", whole)
    return shown if at + len(shown) >= least else text[at:least]


def _tail_of(text: str, at: int) -> int:
    """Return where something may begin at the end of a text; its length, if nowhere."""
    found = _TAIL.search(text, max(at, len(text) - _MAX_TAIL))
    return found.start() if found else len(text)


def with_omissions(text: str) -> str:
    """Return a filtered text with `…` for each inert address, as a quotation leaves it out."""
    return _SPAN.sub(lambda span: " …" if _is_inert(span[2]) else span[0], text)


def _is_inert(code: str) -> bool:
    found = _STARTS.match(code)
    return found is not None and found.lastgroup in {"bare", "angle"}


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
