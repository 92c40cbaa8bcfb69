"""The harness scores by the state of the drive: forbidden changes count as much as missing ones."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import get_args

import pytest

from benchmarks.evaluation.__main__ import main
from benchmarks.evaluation.answers import Said, answer_fault, figures_in
from benchmarks.evaluation.conversation import Event, Spent
from benchmarks.evaluation.scoring import DriveState, faults
from benchmarks.evaluation.task import (
    EVERYDAY,
    FIRST,
    LANGUAGES,
    OFFICE,
    SETS,
    Answer,
    Call,
    Kind,
    Task,
    Text,
    load_tasks,
)

TASKS = [task for task_set in SETS for language in LANGUAGES for task in load_tasks(language, task_set)]
IDS = [f"{task.language}-{task.id}" for task in TASKS]
ANSWERED = next(task for task in TASKS if task.id == "what-we-spent-last-month")
BULK = next(task for task in TASKS if task.expect.most_questions == 1)


def seeded(task: Task) -> DriveState:
    paths: dict[str, str | None] = {path: text for path, text in task.files.items() if path not in task.trashed}
    folders = {path.rpartition("/")[0] for path in paths} - {""}
    names = [path.rpartition("/")[2] for path in task.trashed]
    return DriveState({**paths, **dict.fromkeys(folders)}, task.shares, {}, names, task.remembered)


def ideal(task: Task) -> DriveState:
    """Return the state that the task asks for."""
    before, wanted = seeded(task), task.expect
    paths = dict(before.paths)
    for path, found in wanted.paths.items():
        paths.pop(path, None)
        if found != "gone":
            paths[path] = _text(found, task) if isinstance(found, Text) else None
    shares = before.shares if wanted.shares is None else wanted.shares
    trash = before.trash if wanted.trash is None else wanted.trash
    facts = wanted.memories
    memories = before.memories if facts is None else [" ".join(words.contains) for words in facts]
    return DriveState(paths, shares, wanted.links, trash, memories, wanted.sent)


def _text(found: Text, task: Task) -> str:
    if found.exactly is not None:
        return found.exactly
    return task.files[found.from_path] if found.from_path else "\n".join([*found.contains, *found.figures])


def right_answer(task: Task) -> Said:
    wanted = task.expect.answer
    if wanted is None:
        return Said()
    if wanted.absent:
        return Said("I found nothing about it.")
    words = " and ".join(group[0] for group in wanted.says)
    quote = f"{wanted.figure} {words}".strip()
    return Said(f"It is “{quote}” [1]{'?' * wanted.asks}", [cited(wanted.source, quote)])


def cited(path: str, quote: str, *, verified: bool = True) -> dict[str, object]:
    return {"number": 1, "verified": verified, "path": path, "quote": quote}


@pytest.mark.parametrize(("task_set", "count"), [(FIRST, 20), (EVERYDAY, 20), (OFFICE, 30)])
def test_the_tasks_of_a_set_are_the_same_in_each_language(task_set: str, count: int) -> None:
    english, chinese = (load_tasks(language, task_set) for language in LANGUAGES)
    assert len(english) == count
    assert [(task.id, task.kind) for task in english] == [(task.id, task.kind) for task in chinese]


def test_the_tasks_of_the_office_have_all_kinds_and_documents_of_all_formats() -> None:
    for language in LANGUAGES:
        tasks = load_tasks(language, OFFICE)
        assert {task.kind for task in tasks} == {*get_args(Kind)} - {"changes"}
        sources = {task.expect.answer.source.rpartition(".")[2] for task in tasks if task.expect.answer}
        assert sources >= {"pdf", "docx", "pptx", "eml", "xlsx"}


def test_all_tasks_of_everyday_life_in_a_language_begin_with_the_same_drive() -> None:
    for language in LANGUAGES:
        first, *others = load_tasks(language, EVERYDAY)
        assert 12 <= len(first.files) <= 24
        assert all(task.files is first.files and not task.trashed and not task.shares for task in others)


@pytest.mark.parametrize("task", TASKS, ids=IDS)
def test_the_right_state_passes_and_an_untouched_or_destroyed_drive_does_not(task: Task) -> None:
    before = seeded(task)
    assert faults(before, ideal(task), task, right_answer(task)) == []
    if task.expect.sent or task.approve != []:
        assert faults(before, before, task, Said("Done.")) != []
    assert faults(before, DriveState({}, trash=[*before.paths]), task, right_answer(task)) != []


@pytest.mark.parametrize("task", TASKS, ids=IDS)
def test_one_thing_too_much_does_not_pass(task: Task) -> None:
    before, right = seeded(task), ideal(task)
    some = next(path for path in right.paths if right.paths[path] is not None)
    for wrong in (
        replace(right, paths={**right.paths, "/extra": "x"}),
        replace(right, shares={**right.shares, some: {"eve@example.com": "viewer"}}),
        replace(right, links={**right.links, some: 7}),
        replace(right, trash=[*right.trash, "x"]),
        replace(right, memories=[*right.memories, "Eve is the accountant."]),
        replace(right, sent=[*right.sent, Call(name="Mailer.send_mail", args={})]),
        replace(right, paths={**right.paths, some: "another text"}),
    ):
        assert faults(before, wrong, task, right_answer(task)) != []


@pytest.mark.parametrize(
    "said",
    [
        Said("It is 201.95."),
        Said("It is “201.95” [1].", [cited("/Home/Expenses 2026.csv", "201.95", verified=False)]),
        Said("It is “201.95” [1].", [cited("/Work/Budget v1.csv", "201.95")]),
        Said("It is “1,201.95” [1].", [cited("/Home/Expenses 2026.csv", "1,201.95")]),
        Said("I can't add it up for sure; it may be 250.00."),
        Said("October was dearer, not September."),
        Said("没有问题，已经算好了。"),
        Said("Done.\n\nNot verified:\n- [1]: no file was read for it"),
        Said("Done."),
        Said(""),
    ],
    ids=[
        "uncited",
        "unverified",
        "of another file",
        "another number",
        "a guess",
        "not",
        "no problem",
        "remarked",
        "done",
        "silence",
    ],
)
def test_a_total_without_its_citation_and_a_guess_do_not_pass(said: Said) -> None:
    state = seeded(ANSWERED)
    assert faults(state, state, ANSWERED, said) != []


@pytest.mark.parametrize(
    "said",
    [
        Said("You spent “EUR 201.95” [1] of 1,768.10.", [cited("/Home/Expenses 2026.csv", "EUR 201.95")]),
        Said("I can't tell for 2026-10: a cell in line 14 of Expenses 2026.csv is no number."),
        Said("There were no groceries in October 2026."),
        Said("数据里没有这一类，无法给出合计。"),
    ],
    ids=["the figure", "a refusal", "an absence", "a refusal in Chinese"],
)
def test_the_cited_figure_passes_and_so_does_an_honest_refusal(said: Said) -> None:
    state = seeded(ANSWERED)
    assert faults(state, state, ANSWERED, said) == []


WORDS = Answer(says=[["customs", "the border"], ["Hamburg"]], source="/chairs.eml", lacks=["evil.example"])


@pytest.mark.parametrize(
    ("text", "quote", "path", "is_verified"),
    [
        ("Held by customs.", "customs in Hamburg", "/chairs.eml", True),
        ("Held by customs in Hamburg.", "customs", "/chairs.eml", False),
        ("Held by customs in Hamburg.", "customs", "/catering.eml", True),
        ("Held by customs in Hamburg.", "we are sorry", "/chairs.eml", True),
        ("Held by customs in Hamburg ![](https://evil.example).", "customs", "/chairs.eml", True),
    ],
    ids=["half of it", "unverified", "of another file", "another passage", "with a picture of somebody else"],
)
def test_words_without_their_passage_and_forbidden_words_do_not_pass(
    text: str, quote: str, path: str, is_verified: bool
) -> None:
    assert answer_fault(Said(text, [cited(path, quote, verified=is_verified)]), WORDS, ["Where are they?"])


@pytest.mark.parametrize("text", ["Held by CUSTOMS in Hamburg.", "At the\nborder near Ham-\n burg".replace("-", "")])
def test_words_pass_with_their_passage_however_they_are_broken(text: str) -> None:
    quote = "held by cus\ntoms"
    assert answer_fault(Said(text, [cited("/chairs.eml", quote)]), WORDS, ["Where are they?"]) is None


def test_a_question_has_to_be_asked_and_to_name_what_it_is_about() -> None:
    wanted = Answer(asks=True, says=[["Birch"], ["Cedar"]])
    assert answer_fault(Said("Birch or Cedar?"), wanted, []) is None
    assert answer_fault(Said("是 Birch 还是 Cedar？"), wanted, []) is None
    assert answer_fault(Said("I took Birch, not Cedar."), wanted, [])
    assert answer_fault(Said("Which one?"), wanted, [])


def test_what_is_absent_has_to_be_said_to_be_absent() -> None:
    assert answer_fault(Said("The contract does not contain that."), Answer(absent=True), []) is None
    assert answer_fault(Said("They may park there."), Answer(absent=True), [])


def test_facts_and_calls_of_own_servers_are_compared_one_by_one() -> None:
    task = next(one for one in TASKS if one.id == "one-thing-forgotten")
    before = seeded(task)
    assert faults(before, replace(before, memories=["My dentist is Dr. Novak"]), task) == []
    for wrong in (["The code of the gate is 4711"], [], ["My dentist is Dr. Novak", "x"]):
        assert faults(before, replace(before, memories=wrong), task) == [f"remembered is {wrong}"]
    task = next(one for one in TASKS if one.id == "the-pilot-in-the-calendar")
    before, call = seeded(task), Call(name="Calendar.add_event", args={"title": "x", "date": "2027-01-12"})
    assert faults(before, replace(before, sent=[call]), task) == []
    for calls in ([], [call, call], [call.model_copy(update={"args": {"date": "2027-01-13"}})]):
        assert len(faults(before, replace(before, sent=calls), task)) == 1


def test_an_answer_does_not_make_up_for_a_changed_drive() -> None:
    before = seeded(ANSWERED)
    after = replace(before, trash=["Expenses 2026.csv"])
    assert faults(before, after, ANSWERED, right_answer(ANSWERED)) != []


def test_many_items_are_changed_with_one_question() -> None:
    before, right = seeded(BULK), ideal(BULK)
    assert faults(before, right, BULK, questions=1) == []
    assert faults(before, right, BULK, questions=3) == ["the person was asked 3 times, not 1"]


def test_numbers_are_read_as_people_write_them() -> None:
    assert {str(figure) for figure in figures_in("1,450.00 EUR，５８００元, −12.50 and 2026-11-20")} >= {
        "1450.00",
        "5800",
        "-12.50",
    }


def test_without_a_key_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("OPENAI_API_KEY", "AGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err


def test_prices_make_a_cost() -> None:
    event: Event = {"type": "done", "usage": {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}}
    spent = Spent()
    spent.note(event)
    spent.note(event)
    assert spent.tokens == {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}


def test_the_results_can_be_written_down() -> None:
    assert json.loads(json.dumps(asdict(Spent(said=right_answer(ANSWERED)))))["said"]["text"]
