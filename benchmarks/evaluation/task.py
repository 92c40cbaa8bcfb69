"""The tasks as data (`tasks/*.json`), the drives that they begin with, and what each expects.

There are two sets: the tasks of the first one bring their few files along; those of everyday life all begin with the
drive of their language in `drives`, and on the same day (`clock.py`).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FOLDER = Path(__file__).with_name("tasks")
DRIVES = Path(__file__).with_name("drives")
LANGUAGES = ("en", "zh")
FIRST, EVERYDAY = "first", "everyday"
SETS = (FIRST, EVERYDAY)
WORKBOOK_SOURCE = ".xlsx.csv"
"""The ending of a file in `drives` that becomes a workbook: the drive's own writer makes it."""

Found = Literal["gone", "folder"]


class Text(BaseModel):
    """The text that a file has to have. `from_path`: that of the seed's file at the path. `figures`: numbers in it."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    exactly: str | None = Field(default=None, alias="is")
    from_path: str | None = Field(default=None, alias="from")
    contains: Sequence[str] = ()
    figures: Sequence[str] = ()
    lacks: Sequence[str] = ()


class Answer(BaseModel):
    """A number that the last answer has to give, with a verified citation of the file at the path `source`.

    An answer that says honestly that it can't tell, and gives no number, passes as well.
    """

    model_config = ConfigDict(extra="forbid")

    figure: str
    source: str


class Expectation(BaseModel):
    """The differences that a task has to make. All that is not named has to be as it was.

    `most_questions`: how often the person may be asked for an approval.
    """

    model_config = ConfigDict(extra="forbid")

    paths: Mapping[str, Found | Text] = {}
    shares: Mapping[str, Mapping[str, str]] | None = None
    links: Mapping[str, int] = {}
    trash: Sequence[str] | None = None
    answer: Answer | None = None
    most_questions: int | None = None


class Call(BaseModel):
    """A call of a tool. `trash:NAME` in its arguments stands for the id of that item in the trash."""

    name: str
    args: dict[str, Any]


class Solution(BaseModel):
    """The calls that do it and the last words of each answer, by request, for tests: no model sees them."""

    model_config = ConfigDict(extra="forbid")

    agent: str
    calls: Sequence[Sequence[Call]]
    says: Sequence[str] = ()


class Task(BaseModel):
    """One task. `approve`: the tools that the person lets run when asked, or `all`; the rest they reject."""

    model_config = ConfigDict(extra="forbid")

    id: str
    language: str = ""
    task_set: str = FIRST
    files: Mapping[str, str] = {}
    trashed: Sequence[str] = ()
    shares: Mapping[str, Mapping[str, str]] = {}
    open: str | None = None
    requests: Sequence[str] = Field(min_length=1)
    approve: Literal["all"] | Sequence[str]
    expect: Expectation
    solution: Solution

    def lets(self, tool: str) -> bool:
        """Say whether the person approves the tool."""
        return self.approve == "all" or tool in self.approve


class _File(BaseModel):
    tasks: list[Task]


def load_tasks(language: str, task_set: str = FIRST) -> list[Task]:
    """Return the tasks of a set in a language."""
    name = language if task_set == FIRST else f"{task_set}_{language}"
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    tasks = _File.model_validate_json(f'{{"tasks": {text}}}').tasks
    known: dict[str, Any] = {"language": language, "task_set": task_set}
    if task_set == EVERYDAY:
        known["files"] = everyday_files(language)
    return [task.model_copy(update=known) for task in tasks]


@cache
def everyday_files(language: str) -> Mapping[str, str]:
    """Return the everyday drive by path; the text of a workbook is the csv that it is made of."""
    root = DRIVES / language
    found = {f"/{path.relative_to(root).as_posix()}": path for path in sorted(root.rglob("*")) if path.is_file()}
    return {_name_on_drive(place): path.read_text(encoding="utf-8") for place, path in found.items()}


def _name_on_drive(path: str) -> str:
    return path.removesuffix(".csv") if path.endswith(WORKBOOK_SOURCE) else path
