"""A text as people's clients show it: it decides whether an answer is harmless.

Markdown is read by markdown-it-py (CommonMark with raw HTML and tables), its HTML by html5lib as browsers read it. Text
outside of code becomes links where GFM, marked or markdown-it's linkify make them.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

import html5lib
from markdown_it import MarkdownIt

OWN: Final = "drive.example.com"
HARMLESS: Final = {
    *("html", "head", "body", "p", "a", "em", "strong", "code", "pre", "blockquote", "ul", "ol", "li", "hr", "br"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
    *("b", "i", "u", "s", "del", "ins", "sub", "sup", "kbd", "mark", "small"),
}
_LABEL: Final = r"[a-z0-9\u00c0-\u1fff\u3400-\u9fff-]"
LINKIFIED: Final = re.compile(
    r"(?:https?|ftp)://[^\s<]*\w[^\s<]*|www\.[a-z0-9][^\s<]*|(?:mailto|xmpp):[^\s<]+@[^\s<]+|(?<![:/\w])//\w[^\s<]*\.[^\s<]*"
    rf"|(?<![\w@./\\:-]){_LABEL}+(?:\.{_LABEL}+)*\.(?:com|net|org|info|рф)(?![@.\w-]|{_LABEL})[^\s<]*",
    re.IGNORECASE | re.ASCII,
)


@dataclass
class Reading:
    """The faults of a text: addresses that lead away, and elements that no answer may have."""

    away: list[str] = field(default_factory=list[str])
    elements: list[str] = field(default_factory=list[str])


def read_as_people_do(text: str, own: tuple[str, ...] = (OWN,)) -> Reading:
    """Return what leads away, and what is not harmless."""
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    markdown.validateLink = lambda _url: True  # pyright: ignore[reportAttributeAccessIssue] - not every reader has its own
    tree: Any = html5lib.parse(markdown.render(text), namespaceHTMLElements=False)
    seen = Reading()
    _read(tree, seen, own, in_code=False)
    return seen


def _read(element: Any, seen: Reading, own: tuple[str, ...], *, in_code: bool) -> None:
    if not isinstance(element.tag, str) or element.tag not in HARMLESS:
        seen.elements.append(str(element.tag))
    # The class of a code block is `language-` and its info string.
    values = [value.removeprefix("language-").lstrip(":") for value in element.attrib.values()]
    seen.away += [value for value in values if leads_away(value, own)]
    in_code = in_code or element.tag in {"code", "pre", "a"}
    texts = [element.text if not in_code else None]
    for child in element:
        _read(child, seen, own, in_code=in_code)
        texts.append(child.tail if not in_code else None)
    for found in LINKIFIED.findall("\x00".join(text or "" for text in texts).replace("\x00", " ")):
        address = found if re.match(r"[a-z]+:|//", found, re.IGNORECASE) else f"http://{found}"
        seen.away += [address] if leads_away(address, own) else []


def leads_away(value: str, own: tuple[str, ...] = (OWN,)) -> bool:
    """Say whether a browser may leave the reader's own place with this value of an attribute, whatever its name."""
    plain = re.sub(r"[\x00-\x20]", "", value).replace("\\", "/")
    hosts = "|".join(map(re.escape, own))
    if re.match(rf"(?:(?:https?:)?//(?:{hosts}|127\.0\.0\.1:8000)(?:[/?#]|(?:[^\w%]|_)*\Z)|drive://)", plain, re.ASCII):
        return not plain.isascii() and re.match(r"https?://[^/?#]*[^\x00-\x7f]+[^\W_]", plain) is not None
    return re.search(r"//\w|\A[a-z][a-z0-9+.-]*:|url\(", plain, re.IGNORECASE) is not None
