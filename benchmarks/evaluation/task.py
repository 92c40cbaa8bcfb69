"""The tasks as data (`tasks/en.json`, `tasks/zh.json`), and what each expects of the drive."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FOLDER = Path(__file__).with_name("tasks")
LANGUAGES = ("en", "zh")

Found = Literal["gone", "folder"]


class Text(BaseModel):
    """What a file has to say: one of these. `from_path`: what the file at that path of the seed said."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    exactly: str | None = Field(default=None, alias="is")
    from_path: str | None = Field(default=None, alias="from")
    contains: Sequence[str] = ()


class Expectation(BaseModel):
    """What has to be other than at the beginning. All that is not named has to be as it was."""

    model_config = ConfigDict(extra="forbid")

    paths: Mapping[str, Found | Text] = {}
    shares: Mapping[str, Mapping[str, str]] | None = None
    links: Mapping[str, int] = {}
    trash: Sequence[str] | None = None


class Call(BaseModel):
    """A call of a tool. `trash:NAME` in its arguments stands for the id of that item in the trash."""

    name: str
    args: dict[str, Any]


class Solution(BaseModel):
    """The calls that do it, by request, for tests of the harness: no model sees them."""

    agent: str
    calls: Sequence[Sequence[Call]]


class Task(BaseModel):
    """One task. `approve`: the tools that the person lets run when asked, or `all`; the rest they reject."""

    model_config = ConfigDict(extra="forbid")

    id: str
    files: Mapping[str, str]
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


def load_tasks(language: str) -> list[Task]:
    """Return the tasks in a language."""
    text = (FOLDER / f"{language}.json").read_text(encoding="utf-8")
    return _File.model_validate_json(f'{{"tasks": {text}}}').tasks
