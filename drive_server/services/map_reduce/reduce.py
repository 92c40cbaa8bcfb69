"""Many answers made into one by a language model, a few at a time where there are more than it reads at once."""

from collections.abc import Sequence
from typing import Final

from drive_server.services.map_reduce.findings import Finding
from drive_server.services.map_reduce.language_model import ModelError
from drive_server.services.map_reduce.prompts import BRING_TOGETHER, Task, answer_section
from drive_server.services.map_reduce.retrying import PatientModel
from drive_server.services.tree.names import display_name

MOST_CHARACTERS: Final = 24_000
"""So much of answers a model reads at once, never fewer than two of them."""
MOST_TEXT_CHARACTERS: Final = 6_000
"""The longest answer that is taken: four of them fit into one request."""
MOST_LISTED_CHARACTERS: Final = 6_000
MOST_TOKENS: Final = 4_000


async def together(findings: Sequence[Finding], task: Task, model: PatientModel) -> tuple[str, str]:
    """Return the answers as one text, and why they were only listed, empty if they were brought together."""
    answered = [finding for finding in findings if finding.answer]
    if not answered:
        read = sum(finding.is_read for finding in findings)
        return _none(read, chinese=task.is_chinese), ""
    if len(answered) == 1 and not task.how:
        return listed(answered), ""
    try:
        return await _brought_together(findings, task, model), ""
    except ModelError as error:
        if task.is_chinese:
            return listed(answered), f"各文件的答案未能汇总（{error.reason}），因此逐一列出。"
        return listed(answered), f"The answers could not be brought together ({error.reason}), so they are listed."


def listed(findings: Sequence[Finding]) -> str:
    """Return the answers one after the other, each with its file, as many as fit."""
    text = "\n".join(f"- {display_name(one.path)}: {one.answer}" for one in findings if one.answer)
    return text if len(text) <= MOST_LISTED_CHARACTERS else f"{text[:MOST_LISTED_CHARACTERS]}…"


async def _brought_together(findings: Sequence[Finding], task: Task, model: PatientModel) -> str:
    sections = [answer_section(one.path, one.answer) for one in findings if one.answer]
    while True:
        batches = _batches(sections)
        texts = [await _one_of(batch, findings, task, model) for batch in batches]
        if len(texts) == 1:
            return texts[0]
        sections = [answer_section(f"group {number}", text) for number, text in enumerate(texts, 1)]


async def _one_of(sections: Sequence[str], findings: Sequence[Finding], task: Task, model: PatientModel) -> str:
    read, answered = sum(one.is_read for one in findings), sum(bool(one.answer) for one in findings)
    counts = f"<counts>\n{len(findings)} files, {read} read, {answered} of them with an answer\n</counts>"
    answers = "\n".join(sections)
    text = f"{task.section()}\n{counts}\n<answers>\n{answers}\n</answers>"
    return (await model.complete(task.told(BRING_TOGETHER), text, MOST_TOKENS))[:MOST_TEXT_CHARACTERS]


def _batches(sections: Sequence[str]) -> list[list[str]]:
    """Return the sections in their order, in as many requests as it takes; each but the last has two at least."""
    batches: list[list[str]] = []
    size = 0
    for section in sections:
        if not batches or (len(batches[-1]) > 1 and size + len(section) > MOST_CHARACTERS):
            batches.append([])
            size = 0
        batches[-1].append(section)
        size += len(section)
    return batches


def _none(read: int, *, chinese: bool) -> str:
    if chinese:
        return f"已读的 {read:,} 个文件中都没有相关内容。" if read else "那里没有可读的文件。"
    return f"Nothing in the {read:,} files that were read bears on this." if read else "There is no file there to read."
