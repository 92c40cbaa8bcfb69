"""The offline model's answers when the drive has it read many files: sentences of the file itself, and nothing else."""

import re
from collections.abc import Sequence
from typing import Final

from graph.offline.documents import SURE_ENOUGH, Sentence, best_passage, key_sentences, read_sentences
from graph.offline.understanding.grammar import word
from graph.offline.understanding.terms import has_han, terms
from graph.offline.wording import say, sides

NOTHING: Final = "NOTHING"
MOST_SENTENCES, MOST_LISTED, LONGEST_LISTED = 3, 200, 160
_TASK: Final = re.compile(r"\A<task>\n(?P<task>.*?)\n</task>", re.DOTALL)
_FILE: Final = re.compile(r"^<file path=\"[^\n]*?\"[^\n>]*>\n(?P<text>.*)\n</file>\Z", re.DOTALL | re.MULTILINE)
_ANSWER: Final = re.compile(r"(?ms)^<answer file=\"(?P<file>[^\n]*?)\">\n(?P<text>.*?)\n</answer>$")
_MENTIONED: Final = re.compile(r"[“\"「]([^”\"」]+)[”\"」]")


def lent_answer(text: str) -> str | None:
    """Return the answer to a request of the drive about a file, or about many answers; None if the text is no such."""
    task = _TASK.match(text)
    if task is None:
        return None
    if (file := _FILE.search(text, task.end())) is not None:
        content = _plain(file["text"])
        chosen = _about(task["task"], read_sentences(content))
        quote = content[chosen[0].start : chosen[0].end] if chosen else ""
        return f"{_joined([one.text for one in chosen])}\nQUOTE: {quote}" if chosen else NOTHING
    answers = [(answer["file"], _plain(answer["text"])) for answer in _ANSWER.finditer(text, task.end())]
    if any(file.startswith("part ") for file, _ in answers):
        return _joined([said.split("\n")[0] for _, said in answers[:MOST_SENTENCES]])
    lines = [_line(file, said) for file, said in answers[:MOST_LISTED]]
    return "\n".join([*lines, "", say("zh" if has_han(task["task"]) else "en", "quoted_by")]) if answers else None


def _about(asked: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    named = [set(terms(name)) for name in _MENTIONED.findall(asked)]
    if named:
        said = [(one, set(terms(f"{one.heading} {one.text}"))) for one in sentences]
        return [one for one, held in said if all(name and name <= held for name in named)][:MOST_SENTENCES]
    if word("summarising").search(asked) or not terms(asked):
        return key_sentences(sentences)[:MOST_SENTENCES]
    passage = best_passage(sentences, asked)
    return list(passage.sentences) if passage is not None and passage.fit >= SURE_ENOUGH else []


def _line(file: str, text: str) -> str:
    if file.startswith("group "):
        return text.replace(sides("quoted_by")[0], "").replace(sides("quoted_by")[1], "").strip()
    said = " ".join(text.split())
    return f"- {_plain(file)}: {said if len(said) <= LONGEST_LISTED else said[: LONGEST_LISTED - 1] + '…'}"


def _plain(text: str) -> str:
    return text.replace("&lt;", "<")


def _joined(parts: Sequence[str]) -> str:
    return ("" if parts and has_han(parts[0]) else " ").join(parts)
