from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.links.allowlist import HostAllowlist
from graph.links.bidi import BidiFilter, without_overrides
from graph.links.filter import LinkFilter

SIGNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("invoice\u202egpj.exe is safe", "invoicegpj.exe is safe"),
        ("\u202d\u202eabc\u202c\u202c def", "abc def"),
        ("open \u2067 for ever\nnext line", "open \u2067 for ever\u2069\nnext line"),
        ("open \u202b\u2067 twice", "open \u202b\u2067 twice\u2069\u202c"),
        ("stray \u202c\u2069 ends", "stray  ends"),
        ("\u2067\u202b crossed\u2069 rest", "\u2067\u202b crossed\u202c\u2069 rest"),
        ("\u202b outside \u2067 in\u202c side\u2069 end\u202c", "\u202b outside \u2067 in side\u2069 end\u202c"),
    ],
)
def test_overrides_go_and_what_is_open_ends_with_its_line(text: str, shown: str) -> None:
    assert without_overrides(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "שלום עולם",
        "قال \u2068John\u2069 ذلك",
        "He said \u2067שלום!\u2069 twice",
        "\u202bאבג (abc)\u202c",
        "a\u200fb",
        "报告",
    ],
)
def test_texts_that_run_from_right_to_left_stay_as_they_are(text: str) -> None:
    assert without_overrides(text) == text
    assert LinkFilter(HostAllowlist(())).clean(text) == text


@given(st.lists(st.text("ab \n" + SIGNS, max_size=6), max_size=12))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_output_does_not_depend_on_the_cuts_and_is_balanced(deltas: list[str]) -> None:
    found = BidiFilter()
    shown = "".join(map(found.feed, deltas)) + found.end()
    assert shown == without_overrides("".join(deltas))
    assert without_overrides(shown) == shown
    assert not {"\u202d", "\u202e"} & {*shown}
    for line in shown.split("\n"):
        assert sum(line.count(sign) for sign in "\u2066\u2067\u2068") == line.count("\u2069")


def test_an_address_that_an_override_broke_up_is_inert() -> None:
    links = LinkFilter(HostAllowlist(()))
    shown = links.feed("see ht\u202etp://evil.") + links.feed("example/x\u202e now") + links.end()
    assert shown == "see `http://evil.example/x` now"
    assert links.clean("ht\u202etp://evil.example/x") == "`http://evil.example/x`"
