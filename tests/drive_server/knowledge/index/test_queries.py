from __future__ import annotations

import pytest

from drive_server.knowledge.index.queries import Term, parse


def written(text: str) -> list[list[str]]:
    """Return the groups of a query, phrases in quotes."""
    return [[f'"{term.text}"' if term.is_phrase else term.text for term in group] for group in parse(text).groups]


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("annual leave", [["annual"], ["leave"]]),
        ('"annual leave" 2024', [['"annual leave"'], ["2024"]]),
        ("“annual  leave”, policy", [['"annual leave"'], [","], ["policy"]]),
        ("「带薪年假」 规定", [['"带薪年假"'], ["规定"]]),
        ("《员工手册》", [['"员工手册"']]),
        ("leave OR holiday pay", [["leave", "holiday"], ["pay"]]),
        ('a | "b c" | d', [["a", '"b c"', "d"]]),
    ],
)
def test_syntax_is_read(text: str, groups: list[list[str]]) -> None:
    assert written(text) == groups
    assert parse(text).excluded == ()


def test_what_is_not_wanted_is_kept_apart() -> None:
    query = parse('leave -draft -"first version" policy')
    assert query.words == "leave policy"
    assert query.excluded == (Term("draft"), Term("first version", is_phrase=True))


@pytest.mark.parametrize(
    "text",
    [
        '"unclosed phrase',
        "OR",
        "a OR",
        "OR a",
        "-",
        "--all -5 - x",
        '""',
        '" "',
        '5"x4" board',
        "《战国无双3》是由哪两个公司合作开发的？",
        "请问“年假”怎么算",
        "-only -exclusions",
        "a) AND (b NOT c* ~d^2 e:f",
        "'; DROP TABLE passages; --",
        "😀 שלום",
    ],
)
def test_what_is_no_syntax_is_words(text: str) -> None:
    query = parse(text)
    assert query.words.split() == text.split()
    assert not query.is_strict
    assert not query.alternatives


@pytest.mark.parametrize("text", ["", "   ", "\t"])
def test_nothing_is_nothing(text: str) -> None:
    assert parse(text).groups == ()


def test_either_of_two_after_or_is_one_group_and_a_second_or_is_a_word() -> None:
    assert written("a OR OR b") == [["a", "OR"], ["b"]]


@pytest.mark.parametrize(
    ("text", "passage", "admitted"),
    [
        ('"annual leave"', "Our ANNUAL\n leave is long.", True),
        ('"annual leave"', "Annual paid leave.", False),
        ('"art"', "We start.", False),
        ('"art"', "the art_of", True),
        ('"Python"', "用Python语言", True),
        ("「带薪年假」", "員工有帶薪\n年假十天", True),
        ("「带薪年假」", "带薪的年假", False),
        ('"ＡＢＣ"', "see abc.", True),
        ('"foo_bar.baz"', "call foo_bar.baz()", True),
        ('"foo_bar.baz"', "call foo_bar_baz()", False),
        ("leave -draft", "A Draft on leave.", False),
        ("leave -draft", "Drafting leave.", True),
        ("假期 -草稿", "假期草稿一", False),
        ('leave -"first version"', "leave, first version", False),
        ("leave", "anything", True),
        ('a OR "b c"', "anything", True),
    ],
)
def test_passages_are_admitted_by_phrases_and_exclusions(text: str, passage: str, admitted: bool) -> None:
    assert parse(text).passage_filter()(passage) == admitted


def test_phrases_can_be_taken_as_words() -> None:
    query = parse('"annual leave" -draft').without_phrases()
    assert query.words == "annual leave"
    assert query.phrases == ()
    assert query.excluded == (Term("draft"),)


def test_a_long_query_of_quotes_is_read_at_once() -> None:
    assert parse('"' * 5000).phrases == ()
    assert parse('-"a' * 5000).words


@pytest.mark.parametrize(
    "text",
    [
        "How long is the notice period",
        "notice period of the lease?",
        "I lost my key",
        "can you find our lease",
        "¿Dónde?",
    ],
)
def test_a_question_is_told_by_its_words_and_its_mark(text: str) -> None:
    assert parse(text).is_question


@pytest.mark.parametrize("text", ["lease 2024", "notice period", "invoice -paid", "租约什么时候到期？", "i", ""])
def test_words_to_look_for_are_no_question(text: str) -> None:
    assert not parse(text).is_question
