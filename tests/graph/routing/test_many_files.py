"""Requests about each file and then the whole."""

import pytest

from graph.routing.many_files import of_each


@pytest.mark.parametrize(
    ("text", "each"),
    [
        ("summarise each file in this folder, then the whole", "summarise each file in this folder"),
        ("Please summarize every document in Contracts and then give me an overall summary.", None),
        ("go through each contract in /Legal/2026, and finally a summary of all of them", None),
        ("Read every report in Reports, then sum up everything together", "Read every report in Reports"),
        ("总结这个文件夹里的每个文件，再给一个整体总结", "总结这个文件夹里的每个文件"),
        ("请把合同文件夹里的每份合同总结一下，最后给一个总体概述", "请把合同文件夹里的每份合同总结一下"),
        ("逐个总结这个文件夹里的文件，然后汇总", "逐个总结这个文件夹里的文件"),
    ],
)
def test_each_and_the_whole_is_understood(text: str, each: str | None) -> None:
    found = of_each(text)
    assert found
    assert each is None or found == each


@pytest.mark.parametrize(
    "text",
    [
        "",
        "summarise each file in this folder",
        "summarise the whole folder",
        "don't summarise each file, just the whole",
        "summarise each file, then share the whole folder",
        "review each invoice; then delete the whole folder",
        "Summarise each file and move them all together into Old",
        "how do I summarise each file, then the whole?",
        "总结每个文件",
        "总结每个文件，然后把整个文件夹共享给Bob",
        "不要总结每个文件，再给一个整体总结",
        "summarise each file, then the whole " + "x" * 600,
    ],
)
def test_what_asks_for_something_else_is_let_be(text: str) -> None:
    assert of_each(text) is None
