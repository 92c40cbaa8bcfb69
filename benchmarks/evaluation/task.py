"""The tasks as data (`tasks/*.json`), the drives that they begin with, and what each expects.

There are three sets, all on the same day (`clock.py`). The tasks of the first one bring their few files along; those of
everyday life and of the office begin with a drive in `drives`, by set and language. Tasks of the office are answered
from documents, ask back, remember, have attachments or servers of the person's own, are long, or meet injections.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FOLDER = Path(__file__).with_name("tasks")
DRIVES = Path(__file__).with_name("drives")
LANGUAGES = ("en", "zh")
FIRST, EVERYDAY, OFFICE = "first", "everyday", "office"
SETS = (FIRST, EVERYDAY, OFFICE)
SOURCES = {".xlsx.csv": ".csv", ".docx.md": ".md", ".pdf.md": ".md", ".pptx.md": ".md"}
"""The endings of files in `drives` that other files are made of, and how much of the name goes (`documents.py`)."""

Found = Literal["gone", "folder"]
Kind = Literal["changes", "documents", "asking", "memory", "attachments", "servers", "long", "injections"]


class Text(BaseModel):
    """The text that a file has to have. `from_path`: that of the seed's file at the path. `figures`: numbers in it."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    exactly: str | None = Field(default=None, alias="is")
    from_path: str | None = Field(default=None, alias="from")
    contains: Sequence[str] = ()
    figures: Sequence[str] = ()
    lacks: Sequence[str] = ()


class Answer(BaseModel):
    """The words and figures that the last answer must have, with a verified citation of `source` if that is set.

    `figure`: a number; an answer that says honestly that it can't tell, and gives no number, passes as well. `says`:
    words, of each group one. `lacks`: words that it must not have. `asks`: it is a question to the person. `absent`: it
    says that there is no such thing.
    """

    model_config = ConfigDict(extra="forbid")

    figure: str = ""
    source: str = ""
    says: Sequence[Sequence[str]] = ()
    lacks: Sequence[str] = ()
    asks: bool = False
    absent: bool = False


class Words(BaseModel):
    """The words that a remembered fact has, and has not."""

    model_config = ConfigDict(extra="forbid")

    contains: Sequence[str] = ()
    lacks: Sequence[str] = ()


class Expectation(BaseModel):
    """The differences that a task has to make. All that is not named has to be as it was.

    `most_questions`: how often the person may be asked for an approval. `memories`: what is remembered afterwards;
    without it, the same as before. `sent`: the changing calls that the person's own servers got, `SERVER.TOOL` and
    arguments among theirs, in this order.
    """

    model_config = ConfigDict(extra="forbid")

    paths: Mapping[str, Found | Text] = {}
    shares: Mapping[str, Mapping[str, str]] | None = None
    links: Mapping[str, int] = {}
    trash: Sequence[str] | None = None
    answer: Answer | None = None
    most_questions: int | None = None
    memories: Sequence[Words] | None = None
    sent: Sequence["Call"] = ()


class Call(BaseModel):
    """A call of a tool.

    `trash:NAME` in its arguments stands for the id of that item in the trash, `memory:WORDS` for that of a fact.
    """

    name: str
    args: dict[str, Any]


class ServerTool(BaseModel):
    """A tool of a person's own server, which always answers the same. `required`: its arguments, all of them texts."""

    model_config = ConfigDict(extra="forbid")

    description: str
    required: Sequence[str] = ()
    answer: str
    reads: bool = False


class Solution(BaseModel):
    """The calls that do it and the last words of each answer, by request, for tests: no model sees them."""

    model_config = ConfigDict(extra="forbid")

    agent: str
    calls: Sequence[Sequence[Call]]
    says: Sequence[str] = ()


class Task(BaseModel):
    """One task. `approve`: the tools that the person lets run when asked, or `all`; the rest they reject.

    `attached`: paths that go along with a request, by its number from 0. `new_threads`: the numbers of requests that
    begin another conversation. `remembered`: facts from before. `servers`: the person's own, with their tools by name.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    language: str = ""
    task_set: str = FIRST
    kind: Kind = "changes"
    files: Mapping[str, str] = {}
    trashed: Sequence[str] = ()
    shares: Mapping[str, Mapping[str, str]] = {}
    open: str | None = None
    attached: Mapping[int, Sequence[str]] = {}
    new_threads: Sequence[int] = ()
    remembered: Sequence[str] = ()
    servers: Mapping[str, Mapping[str, ServerTool]] = {}
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
    if task_set == FIRST:
        return [task.model_copy(update=known) for task in tasks]
    files = drive_files(task_set, language)
    return [
        task.model_copy(update={**known, "files": {**files, **task.files} if task.files else files}) for task in tasks
    ]


@cache
def drive_files(task_set: str, language: str) -> Mapping[str, str]:
    """Return the drive of a set by path; the text of a document or a workbook is the source that it is made of."""
    root = DRIVES / task_set / language
    found = {f"/{path.relative_to(root).as_posix()}": path for path in sorted(root.rglob("*")) if path.is_file()}
    return {_name_on_drive(place): path.read_text(encoding="utf-8") for place, path in found.items()}


def _name_on_drive(path: str) -> str:
    return next((path.removesuffix(cut) for ending, cut in SOURCES.items() if path.endswith(ending)), path)
