"""Code in Markdown (CommonMark 0.31, 4.5 and 6.1), as far as every reader must see it as code. Nothing in it is live.

A code span counts if it opens and closes on one line, and no earlier backticks of its paragraph can pair with its own;
a fence counts at the margin or up to three spaces from it. Everything else is taken for text.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

LONGEST: Final = 2_000
"""Characters that are held back for the end of a span or a link."""
_MAX_INFO: Final = 500
_RUN: Final = re.compile(rf"`{{1,{LONGEST}}}")
_LINE: Final = re.compile(rf"[^\r\n|\x0b\x0c\x1c-\x1e\x85\u2028\u2029]{{0,{LONGEST}}}")
"""The rest of a line that no reader splits: not in the cells of a table, nor at a character that some end lines at."""
_FENCE: Final = re.compile(rf"( {{0,3}})((`|~)\3{{2,}})([^\n]{{0,{_MAX_INFO}}})\n?")
_PLAIN_INFO: Final = re.compile(r"[\w+#-]{0,40}[ \t]*\r?")

Step = tuple[str, int]
"""The text to write, and the number of characters that it stands for."""


@dataclass(frozen=True, slots=True)
class _Fence:
    sign: str
    length: int
    indent: int


@dataclass(slots=True)
class MarkdownCode:
    """The code at the current place of a text that is read from its beginning on.

    `used` are the lengths of this paragraph's backticks that may pair with later ones. After a fence that readers may
    see differently, `_is_sure` is false for good: nothing is taken for a fence any more.
    """

    used: set[int] = field(default_factory=set[int])
    fence: _Fence | None = None
    _is_sure: bool = True

    def wrap(self, text: str, before: str, after: str) -> str:
        """Return the text as a code span that stands between two characters."""
        length = next(number for number in range(1, len(self.used) + 2) if number not in self.used)
        marks = "`" * length
        return f"{' ' * (before in {'`', chr(92)})}{marks}{text}{marks}{' ' * (after == '`')}"

    def doubt(self) -> None:
        """Take nothing for a fence from here on: readers may differ on where one begins or ends."""
        self._is_sure = False
        self.fence = None

    def run(self, text: str, at: int, *, final: bool) -> Step | None:
        """Read backticks: write the code span that they open, or count them as open. None: their end is not here."""
        found = _RUN.match(text, at)
        assert found is not None  # noqa: S101 - the caller found backticks
        if found.end() == len(text) and not final and len(found[0]) < LONGEST:
            return None
        length, before = len(found[0]), text[at - 1 : at]
        if length not in self.used and before not in {"`", "\\"}:
            end = _closing(text, found.end(), length, final=final)
            if end != 0:
                return (text[at:end], end - at) if end else None
        self.used |= {length, length - 1} if before == "\\" else {length}
        if length > 2:
            self.doubt()
        return found[0], length

    def open_fence(self, text: str, at: int, *, final: bool) -> Step | None:
        """Read a line that begins as a fence. An info string that may hold an address becomes a line of its own."""
        found = _FENCE.match(text, at)
        assert found is not None  # noqa: S101 - the caller found the beginning of a fence
        if found.end() == len(text) and not final and text[-1] != "\n" and len(found[4]) < _MAX_INFO:
            return None
        indent, marks, sign, info = found.groups()
        if not self._is_sure or (sign == "`" and "`" in info):
            if sign == "~":
                return f"{indent}~~ ", len(indent) + 2
            return (indent, len(indent)) if indent else self.run(text, at, final=final)
        self.fence = _Fence(sign, len(marks), len(indent))
        self.used.clear()
        if _PLAIN_INFO.fullmatch(info):
            return found[0], len(found[0])
        return f"{indent}{marks}\n", len(indent + marks)

    def read_fence(self, text: str, at: int, *, final: bool) -> tuple[int, bool]:
        """Return where the lines inside the fence end, and whether the fence is over there."""
        assert self.fence is not None  # noqa: S101 - the caller asks inside a fence only
        end, unfinished = _fence_patterns(self.fence)
        if found := end.search(text, at):
            if found.end() == len(text) and not final and found["close"] is not None:
                return found.start(), False
            self.fence = None
            if found["close"] is None:
                self.doubt()
            return found.end(), True
        held = None if final else unfinished.search(text, at)
        return (held.start() if held else len(text)), False

    def close(self, before: str) -> str:
        """Return the line that ends an open fence at the end of a text."""
        if self.fence is None:
            return ""
        line = f"{' ' * self.fence.indent}{self.fence.sign * self.fence.length}"
        self.fence = None
        return line if before == "\n" else f"\n{line}"


def _closing(text: str, at: int, length: int, *, final: bool) -> int | None:
    """Return the end of the backticks that close a span, 0 without any. None: they may come yet."""
    line = _LINE.match(text, at)
    assert line is not None  # noqa: S101 - the pattern matches nothing, too
    ends_here = line.end() == len(text) and not final and line.end() - at < LONGEST
    for found in _RUN.finditer(text, at, line.end()):
        if found.end() == len(text) and ends_here:
            return None
        if len(found[0]) == length and text[found.end() : found.end() + 1] != "`":
            return found.end()
    return None if ends_here else 0


@lru_cache(maxsize=64)
def _fence_patterns(fence: _Fence) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a fence's end and of a line that may become it.

    A line with less indent than the fence may end the list that it stands in, and so the fence, or not.
    """
    sign, indent = re.escape(fence.sign), fence.indent
    close = rf"(?P<close> {{{indent},3}}{sign}{{{fence.length},}}[ \t]*\r?)(?=\n|\Z)"
    doubt = rf"|(?! {{{indent}}})(?=[ \t]*[^ \t\r\n])|(?=[ \t]{{4,}}{sign}{{{fence.length}}})" if indent else ""
    return re.compile(rf"(?<![^\n])(?:{close}{doubt})"), re.compile(rf"(?<![^\n])[ \t]*{sign}*[ \t]*\r?\Z")
