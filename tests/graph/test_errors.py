from collections.abc import Iterator

import pytest

from graph import errors
from graph.errors import AgentError, ModelTimeoutError, explain


def tree(error: type[AgentError]) -> Iterator[type[AgentError]]:
    yield error
    for child in error.__subclasses__():
        yield from tree(child)


@pytest.mark.parametrize("error", list(tree(AgentError)))
def test_every_error_has_a_code_and_a_sentence_in_both_languages(error: type[AgentError]) -> None:
    assert error.code
    assert error.english
    assert error.chinese
    assert error.__doc__


def test_no_two_errors_share_a_code() -> None:
    codes = [error.code for error in tree(AgentError)]
    assert len(codes) == len(set(codes))


def test_an_error_is_explained_in_the_language_of_its_turn() -> None:
    error = ModelTimeoutError("secret detail")
    error.language = "zh"
    assert explain(error) == ("model_timeout", ModelTimeoutError.chinese, True)


def test_of_a_foreign_error_nothing_is_told() -> None:
    code, sentence, retryable = explain(RuntimeError("/etc/passwd"))
    assert (code, retryable) == ("internal", False)
    assert "/etc" not in sentence


def test_the_tree_is_the_whole_module() -> None:
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert all(issubclass(value, AgentError) for value in classes)
