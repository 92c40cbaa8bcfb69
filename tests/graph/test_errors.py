from collections.abc import Iterator

import pytest

from graph import errors
from graph.errors import AgentError, ModelTimeoutError, explain
from graph.language import TEXTS


def tree(error: type[AgentError]) -> Iterator[type[AgentError]]:
    yield error
    for child in error.__subclasses__():
        yield from tree(child)


@pytest.mark.parametrize("error", list(tree(AgentError)))
def test_every_error_has_a_code_and_says_what_it_is(error: type[AgentError]) -> None:
    assert error.code
    assert error.__doc__


def test_every_error_of_the_module_has_its_sentence_and_no_sentence_is_left_over() -> None:
    classes = [error for error in tree(AgentError) if error.__module__ == errors.__name__]
    assert {f"error.{error.code}" for error in classes} == {code for code in TEXTS.codes if code.startswith("error.")}
    assert all(error("detail").in_language(language).sentence for error in classes for language in TEXTS.languages)


def test_no_two_errors_share_a_code() -> None:
    codes = [error.code for error in tree(AgentError)]
    assert len(codes) == len(set(codes))


def test_an_error_is_explained_in_the_language_of_its_turn() -> None:
    error = ModelTimeoutError("secret detail")
    error.language = "zh"
    assert explain(error) == ("model_timeout", "语言模型停止了响应，请重试。", True)


def test_of_a_foreign_error_nothing_is_told() -> None:
    code, sentence, retryable = explain(RuntimeError("/etc/passwd"))
    assert (code, retryable) == ("internal", False)
    assert "/etc" not in sentence


def test_the_tree_is_the_whole_module() -> None:
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert all(issubclass(value, AgentError) for value in classes)
