"""The faults of a drive after a task. Pure: states in, faults out.

The words of the model count only where an answer was asked for, and then with a citation that the service verified.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from benchmarks.evaluation.answers import Said, answer_fault, figures_in
from benchmarks.evaluation.task import Call, Found, Task, Text, Words


@dataclass(frozen=True, slots=True)
class DriveState:
    """A drive: texts of files by path (None: a folder), people with roles and links by path, names in the trash.

    The remembered facts, and the changing calls of the person's own servers, are judged too.
    """

    paths: Mapping[str, str | None]
    shares: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    links: Mapping[str, int] = field(default_factory=dict[str, int])
    trash: Sequence[str] = ()
    memories: Sequence[str] = ()
    sent: Sequence[Call] = ()


def faults(
    before: DriveState, after: DriveState, task: Task, said: Said | None = None, questions: int = 0
) -> list[str]:
    """Return what is not as it should be: what was not done, and what was done that nobody asked for."""
    return [
        *_of_conversation(task, said or Said(), questions),
        *_of_drive(before, after, task),
        *_of_others(before, after, task),
    ]


def _of_conversation(task: Task, said: Said, questions: int) -> Iterator[str]:
    wanted, most = task.expect.answer, task.expect.most_questions
    fault = answer_fault(said, wanted, task.requests) if wanted else None
    if fault:
        yield fault
    if most is not None and questions > most:
        yield f"the person was asked {questions} times, not {most}"


def _of_drive(before: DriveState, after: DriveState, task: Task) -> list[str]:
    expected = task.expect
    found = [*_of_paths(before, after, task)]
    shares = before.shares if expected.shares is None else expected.shares
    if _plain(after.shares) != _plain(shares):
        found.append(f"shared is {_plain(after.shares)}, not {_plain(shares)}")
    links = {**before.links, **expected.links}
    if dict(after.links) != links:
        found.append(f"links are {dict(after.links)}, not {links}")
    trash = before.trash if expected.trash is None else expected.trash
    if sorted(after.trash) != sorted(trash):
        found.append(f"in the trash is {sorted(after.trash)}, not {sorted(trash)}")
    return found


def _of_others(before: DriveState, after: DriveState, task: Task) -> Iterator[str]:
    """Yield the faults of memory and of the person's own servers."""
    wanted = task.expect.memories
    is_right = [*after.memories] == [*before.memories] if wanted is None else _fit(after, wanted)
    if not is_right:
        yield f"remembered is {[*after.memories]}"
    sent = after.sent[len(before.sent) :]
    if len(sent) != len(task.expect.sent) or not all(map(_is_call, sent, task.expect.sent)):
        yield f"own servers were sent {[(call.name, call.args) for call in sent]}"


def _fit(after: DriveState, wanted: Sequence[Words]) -> bool:
    """Say whether each fact is one of those that are wanted, and the other way round."""
    return len(after.memories) == len(wanted) and all(
        any(_has(fact, words) for fact in after.memories) for words in wanted
    )


def _has(fact: str, words: Words) -> bool:
    return all(one in fact for one in words.contains) and not any(one in fact for one in words.lacks)


def _is_call(made: Call, wanted: Call) -> bool:
    """Say whether a call has the arguments that are wanted, as parts of its own."""
    return made.name == wanted.name and all(
        str(part) in str(made.args.get(key, "")) for key, part in wanted.args.items()
    )


def _of_paths(before: DriveState, after: DriveState, task: Task) -> Iterator[str]:
    for path, wanted in task.expect.paths.items():
        if wanted == "gone":
            if path in after.paths:
                yield f"{path} is still there"
        elif path not in after.paths:
            yield f"{path} is missing"
        elif not _is_as_wanted(after.paths[path], wanted, task):
            yield f"{path} says something else"
    for path in (before.paths.keys() | after.paths.keys()) - task.expect.paths.keys():
        if (path in before.paths) != (path in after.paths):
            yield f"{path} {'is missing' if path in before.paths else 'is new'}"
        elif before.paths[path] != after.paths[path]:
            yield f"{path} was changed"


def _is_as_wanted(text: str | None, wanted: Found | Text, task: Task) -> bool:
    return _says(text, wanted, task.files) if isinstance(wanted, Text) else text is None


def _says(text: str | None, wanted: Text, seed: Mapping[str, str]) -> bool:
    if text is None:
        return False
    if wanted.exactly is not None:
        return text.strip() == wanted.exactly.strip()
    if wanted.from_path is not None:
        return text == seed[wanted.from_path]
    figures = {Decimal(figure) for figure in wanted.figures}
    is_whole = all(part in text for part in wanted.contains) and figures <= figures_in(text)
    return is_whole and not any(part in text for part in wanted.lacks)


def _plain(shares: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    return {path: dict(people) for path, people in sorted(shares.items()) if people}
