from __future__ import annotations

from dataclasses import replace

import pytest

from drive_server.knowledge.embedding.embedder import CjkEmbedder, Nearness
from drive_server.knowledge.index.evidence import (
    Coverage,
    Rarity,
    best_of,
    is_near,
    rarity_of,
    terms_of,
    with_agreement,
)

HANDBOOK = "Everybody has 28 days of paid holiday a year. Ask Ann O’Brien about INV-2024-0031."


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("How many days of holiday do I have?", 1.0),
        ("paid holidays", 1.0),
        ("holiday in Spain", 0.5),
        ("to be or not to be", 0.0),
        ("what is it about", 0.0),
        ("zzzzqqq", 0.0),
        ("obrien", 1.0),
        ("O'Brien", 1.0),
    ],
)
def test_the_words_of_a_question_say_what_it_is_about(question: str, share: float) -> None:
    assert terms_of(question).coverage(HANDBOOK).share == share


def test_chinese_is_compared_by_pairs_of_characters_without_those_that_every_question_has() -> None:
    terms = terms_of("员工有多少天休假")
    assert terms.words == ("员工", "天休", "休假")
    assert terms.coverage("每位员工享有28天休假。").share == 1
    assert terms.coverage("周会纪要").share == 0
    assert terms_of("猫").coverage("一只猫").share == 1
    assert terms_of("家长会什么时候开").words == ("家长", "长会", "开")
    assert terms_of("感冒了吃什么药").words == ("感冒", "吃", "药")
    assert terms_of("为什么").words == ()


def test_short_words_are_no_beginnings_of_others() -> None:
    assert terms_of("sew").coverage("the sewers of the town").share == 0
    assert terms_of("cat").coverage("two cats").share == 1


def test_an_identifier_is_an_answer_whatever_is_asked_about_it() -> None:
    assert terms_of("has the money for inv-2024-0031 arrived yet").coverage(HANDBOOK).is_answer
    assert not terms_of("has the money for inv-2024-0032 arrived yet").coverage(HANDBOOK).is_answer
    assert not terms_of("who won the cup in 2024").coverage("Plan of 2024").is_answer


def test_a_slip_of_the_pen_counts_as_the_word_that_is_meant() -> None:
    assert terms_of("whats teh hokiday", ["hokiday"]).coverage(HANDBOOK).share == 0.5
    assert terms_of("whats teh hokiday").coverage(HANDBOOK).share == 0


NEEDED = Nearness(alone=0.5, words=0.2, each_word=0.01, rare_words=0.05)


def covered(*together: str, asked: str = "abcd") -> Coverage:
    return Coverage(frozenset(together), frozenset(together), tuple(asked))


def test_the_fewer_words_a_passage_has_the_nearer_it_must_be() -> None:
    ordinary = Rarity(dict.fromkeys("abcd", 0.2))
    assert is_near(0.5, Coverage(), ordinary, NEEDED)
    assert not is_near(0.49, Coverage(), ordinary, NEEDED)
    assert is_near(0.37, covered("a", "b"), ordinary, NEEDED)
    assert not is_near(0.35, covered("a", "b"), ordinary, NEEDED)
    assert best_of([covered("a", "b"), covered("c", asked="c")]).is_answer
    assert best_of([]) == Coverage()


def test_a_rare_word_says_more_than_one_that_most_of_the_best_passages_have() -> None:
    rarity = rarity_of([covered("a"), covered("a"), covered("a", "b")])
    assert rarity.of["c"] > rarity.of["b"] > rarity.of["a"] > 0
    assert is_near(0.4, covered("b"), rarity, NEEDED)
    assert not is_near(0.4, covered("a"), rarity, NEEDED)
    assert rarity.share("abcd") == pytest.approx(1)
    assert rarity.share("a") < 0.25 < rarity.share("c")
    assert rarity_of([]) == Rarity()
    assert rarity_of([]).share("") == 1


def test_an_answer_has_to_be_nearer_if_no_passage_has_a_word_of_the_question() -> None:
    needed = replace(NEEDED, missing=0.1)
    everywhere, nowhere = rarity_of([covered("a"), covered("b", "c", "d")]), rarity_of([covered("a"), covered("b")])
    assert everywhere.missing == 0
    assert 0.5 < nowhere.missing < 1
    assert is_near(0.55, Coverage(), everywhere, needed)
    assert not is_near(0.55, Coverage(), nowhere, needed)


def test_words_count_that_stand_close_together() -> None:
    terms = terms_of("child fever treatment")
    near, scattered = (
        "A child with fever. Treatment: rest.",
        f"A child. {'Plants. ' * 30} Fever. {'Roots. ' * 30} Treatment.",
    )
    assert terms.coverage(near).together == {"child", "fever", "treatment"}
    assert len(terms.coverage(scattered).together) == 1
    assert terms.coverage(scattered).share == 1
    assert terms_of("孩子发烧").coverage(f"孩子。{'植物' * 100}发烧。").together == {"孩子"}


def test_a_number_or_a_latin_word_counts_that_touches_chinese() -> None:
    assert terms_of("105人事件").coverage("即105人事件。").is_answer
    assert terms_of("Python 版本").coverage("使用Python的版本").is_answer


def test_a_character_of_every_question_stays_where_it_belongs_to_a_word() -> None:
    assert terms_of("蒙古的首都是哪里").words == ("蒙古", "首都")
    assert terms_of("大家都去哪里").words == ("大家", "去")


def test_models_that_disagree_are_trusted_less() -> None:
    assert with_agreement(0.82, 0.1) < 0.82 < with_agreement(0.82, 0.5)


def test_a_question_in_another_script_needs_another_cosine() -> None:
    model = CjkEmbedder()
    assert model.nearness("How much holiday?").alone < model.nearness("多少年假").alone
