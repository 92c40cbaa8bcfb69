import pytest

from graph.language import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("delete everything in Old", "en"),
        ("删除Old里的所有内容", "zh"),
        ("把 Handbook.md 里的 30 days 改成 45 days", "zh"),
        ("rename 报告.md to report.md", "en"),
        ("share 育儿假总结.md with bob@example.com", "en"),
        ("create a folder “育儿假资料”", "en"),
        ("删除a.txt", "zh"),
        ("帮我 share 给 bob@example.com", "zh"),
        ("🦄", "zh"),
        ("", "zh"),
        ("12345", "zh"),
        ("a" * 200_000, "en"),
        ("a@" * 100_000, "zh"),
        ("bob@example.com", "zh"),
        ("list.txt", "zh"),
    ],
)
def test_the_language_is_that_of_the_persons_own_words(text: str, language: str) -> None:
    assert language_of(text, otherwise="zh") == language


@pytest.mark.parametrize(
    ("text", "language"), [("计划.md", "zh"), ("plan.md", "en"), ("bob@example.com", "en"), ("", "en")]
)
def test_a_first_message_of_nothing_but_names_has_the_language_of_the_names(text: str, language: str) -> None:
    assert language_of(text) == language
