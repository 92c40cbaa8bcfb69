"""The process of a packaged model: which texts come first, and what happens when it ends."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from drive_server.knowledge.embedding import model_process as module
from drive_server.knowledge.embedding.embedder import MODEL_FILE, MODEL_FOLDER
from drive_server.knowledge.embedding.model_process import ModelProcess, Turns
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from drive_server.knowledge.process import ChildProcess, ProcessCrashedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAIT_SECONDS = 60


@pytest.fixture
def process() -> Iterator[ModelProcess]:
    process = ModelProcess(MODEL_FOLDER / MODEL_FILE)
    yield process
    process.close()


def test_a_process_that_has_ended_is_replaced_and_gives_the_same_vectors(process: ModelProcess) -> None:
    before = process.embed_questions(["parental leave"])
    (child,) = process._processes  # pyright: ignore[reportPrivateUsage] - it ends behind the model's back
    child.end()
    assert np.array_equal(process.embed_passages(["parental leave"]), before)


def test_a_process_that_ends_again_and_again_makes_the_model_unavailable(
    process: ModelProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise ProcessCrashedError

    monkeypatch.setattr(ChildProcess, "call", crash)
    with pytest.raises(EmbedderUnavailableError, match="has ended"):
        process.embed_questions(["parental leave"])


def test_a_question_keeps_the_process_longer_than_passages_do(
    process: ModelProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[float] = []

    def note(_child: ChildProcess, idle_seconds: float, _work: object, _path: Path, texts: list[str]) -> object:
        kept.append(idle_seconds)
        return np.zeros((len(texts), 1), np.float32)

    monkeypatch.setattr(ChildProcess, "call", note)
    process.embed_passages(["a"])
    process.embed_questions(["a"])
    assert kept == [module.PASSAGE_IDLE_SECONDS, module.QUESTION_IDLE_SECONDS]
    assert module.PASSAGE_IDLE_SECONDS < 60 < module.QUESTION_IDLE_SECONDS


def test_a_question_that_came_last_goes_before_the_passages_that_wait() -> None:
    turns, order = Turns(), list[str]()
    threads: list[threading.Thread] = []

    def come(name: str, *, first: bool) -> None:
        with turns.turn(first=first):
            order.append(name)

    def start(name: str, waiting: int, *, first: bool = False) -> None:
        threads.append(threading.Thread(target=come, args=(name,), kwargs={"first": first}))
        threads[-1].start()
        change = turns._change  # pyright: ignore[reportPrivateUsage] - each has to wait before the next one comes
        with change:
            assert change.wait_for(lambda: turns.waiting == waiting, WAIT_SECONDS)

    with turns.turn(first=False):
        start("passage", 1)
        start("another passage", 2)
        start("question", 3, first=True)
    for thread in threads:
        thread.join(WAIT_SECONDS)
    assert order[0] == "question"
    assert sorted(order[1:]) == ["another passage", "passage"]


def test_a_turn_is_free_again_after_an_error() -> None:
    turns = Turns()
    for first in (True, False):
        with pytest.raises(RuntimeError), turns.turn(first=first):
            raise RuntimeError
    with turns.turn(first=False):
        assert turns.waiting == 0
