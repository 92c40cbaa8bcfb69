from __future__ import annotations

import pytest

from graph.offline.scripts.resolve import best_matches


def named(*names: str) -> list[dict[str, str]]:
    return [{"id": str(number), "name": name} for number, name in enumerate(names)]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("O'Brien", "O’Brien.txt"), ("o’brien.txt", "O'Brien.txt"), ("resume", "Résumé.docx"), ("müller", "Muller.md")],
)
def test_a_name_is_known_with_other_accents_and_apostrophes(wanted: str, name: str) -> None:
    assert [item["name"] for item in best_matches(named(name, "unrelated.md"), wanted)] == [name]


def test_a_name_as_it_is_written_comes_before_other_forms() -> None:
    assert [item["name"] for item in best_matches(named("Résumé.md", "resume.md"), "resume")] == ["resume.md"]


def test_other_letters_stay_other_letters() -> None:
    assert best_matches(named("йод.md", "がく.md"), "иод") == best_matches(named("がく.md"), "かく") == []
