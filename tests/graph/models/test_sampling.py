"""The assistant's model as the drive is lent it."""

import pytest
from langchain_core.messages import AIMessage
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    ErrorData,
    SamplingMessage,
    TextContent,
)

from graph.errors import (
    ModelAuthenticationError,
    ModelContextError,
    ModelError,
    ModelNotFoundError,
    ModelRateLimitedError,
    ModelTimeoutError,
)
from graph.models.sampling import LentModel
from graph.offline.model import OfflineChatModel
from tests.fakes.chat_model import ScriptedChatModel


def request(text: str, system: str = "Be brief.") -> CreateMessageRequestParams:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequestParams(messages=[message], systemPrompt=system, maxTokens=50)


def about(task: str, text: str, name: str = "/a.md") -> str:
    return f'<task>\n{task}\n</task>\n<file path="{name}">\n{text}\n</file>'


async def said(model: LentModel, text: str) -> str:
    answer = await model(None, request(text))
    assert isinstance(answer, CreateMessageResult)
    assert isinstance(answer.content, TextContent)
    return answer.content.text


async def test_the_model_gets_the_instructions_and_the_text_and_its_answer_comes_back() -> None:
    scripted = ScriptedChatModel(script=["Short."])
    answer = await LentModel(scripted)(None, request("Long."))

    assert isinstance(answer, CreateMessageResult)
    assert (answer.role, answer.content) == ("assistant", TextContent(type="text", text="Short."))
    (asked,) = scripted.requests
    assert [(message.type, message.text) for message in asked] == [
        ("system", "Be brief."),
        ("human", "Long."),
    ]


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (ModelRateLimitedError("429"), INTERNAL_ERROR),
        (ModelTimeoutError("slow"), INTERNAL_ERROR),
        (ModelContextError("long"), INVALID_PARAMS),
        (ModelAuthenticationError("key sk-1"), INVALID_REQUEST),
        (ModelNotFoundError("none"), INVALID_REQUEST),
    ],
)
async def test_a_failure_is_told_by_a_code_that_says_whether_asking_again_helps(
    monkeypatch: pytest.MonkeyPatch, failure: ModelError, code: int
) -> None:
    async def fails(*_: object, **__: object) -> object:
        raise failure

    monkeypatch.setattr("graph.models.sampling.ask", fails)
    answer = await LentModel(ScriptedChatModel())(None, request("x"))

    assert isinstance(answer, ErrorData)
    assert answer.code == code
    assert "sk-1" not in answer.message


@pytest.mark.parametrize(
    ("task", "text", "quote"),
    [
        ("Summarise this file.", "# Lease\n\nThe rent is 900 euros.\n", "The rent is 900 euros."),
        ("总结这个文件。", "# 租约\n\n租金每月九百元。\n", "租金每月九百元。"),
        ("When is it paid?", "Interest is low. It is paid in March each year.\n", "It is paid in March each year."),
        ("Does it mention “penalty”?", "Rent. A penalty is due.\n", "A penalty is due."),
        ("这个文件是否提到“违约金”？", "租金九百元。违约金五十元。\n", "违约金五十元。"),
    ],
)
async def test_the_offline_model_answers_with_sentences_of_the_file(task: str, text: str, quote: str) -> None:
    answer = await said(LentModel(OfflineChatModel()), about(task, text))
    assert answer.splitlines()[-1] == f"QUOTE: {quote}"
    assert quote in answer.splitlines()[0]


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("Does it mention “penalty”?", "Rent only.\n"),
        ("这个文件是否提到“违约金”？", "只有租金。\n"),
        ("Summarise this file.", " \n\n"),
        ("Which fees for parking bicycles?", "Interest is paid in March.\n"),
    ],
)
async def test_it_says_so_if_there_is_nothing(task: str, text: str) -> None:
    assert await said(LentModel(OfflineChatModel()), about(task, text)) == "NOTHING"


@pytest.mark.parametrize(("task", "who"), [("Summarise it.", "offline model"), ("总结它。", "离线模型")])
async def test_it_lists_the_answers_and_says_what_it_is(task: str, who: str) -> None:
    answers = "\n".join(f'<answer file="/{name}">\nSays {name}.\n</answer>' for name in ("a", "b"))
    answer = await said(LentModel(OfflineChatModel()), f"<task>\n{task}\n</task>\n<answers>\n{answers}\n</answers>")
    assert "- /a: Says a." in answer
    assert "- /b: Says b." in answer
    assert who in answer


@pytest.mark.parametrize(("reason", "told"), [("length", "maxTokens"), ("stop", "endTurn")])
async def test_the_drive_is_told_whether_the_answer_reached_its_limit(reason: str, told: str) -> None:
    scripted = ScriptedChatModel(script=[AIMessage("So", response_metadata={"finish_reason": reason})])
    answer = await LentModel(scripted)(None, request("Long."))
    assert isinstance(answer, CreateMessageResult)
    assert answer.stopReason == told
