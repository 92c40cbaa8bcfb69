"""The assistant's model lent to the drive, which asks for it over MCP sampling when it reads many files."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
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
    ModelRequestError,
    explain,
)
from graph.models.asking import ask, was_cut
from graph.models.providers import with_answer_limit


class LentModel:
    """Answers sampling requests with a chat model (MCP 2025-11-25, client/sampling). Never raises.

    It asks nobody: the drive asks for it only during a call that the gateway let through.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model

    async def __call__(
        self,
        context: Any,
        params: CreateMessageRequestParams,
    ) -> CreateMessageResult | ErrorData:
        """Return the model's answer, or the error in its place."""
        del context
        try:
            # Out of the clients' stream: the words here are no part of the conversation.
            said = await ask(with_answer_limit(self._model, params.maxTokens), _messages(params), hidden=True)
        except ModelError as error:
            return ErrorData(code=_code(error), message=explain(error)[1])
        return CreateMessageResult(
            role="assistant",
            content=TextContent(type="text", text=said.text.strip()),
            model=_name(said, self._model),
            stopReason="maxTokens" if was_cut(said) else "endTurn",
        )


def _messages(params: CreateMessageRequestParams) -> list[BaseMessage]:
    said: list[BaseMessage] = [SystemMessage(params.systemPrompt)] if params.systemPrompt else []
    return [*said, *(_message(message) for message in params.messages)]


def _message(message: SamplingMessage) -> BaseMessage:
    text = "\n".join(block.text for block in message.content_as_list if isinstance(block, TextContent))
    return AIMessage(text) if message.role == "assistant" else HumanMessage(text)


def _name(said: AIMessage, model: BaseChatModel) -> str:
    return str(said.response_metadata.get("model_name") or getattr(model, "model_name", "") or "the assistant's model")


def _code(error: ModelError) -> int:
    """Return a code by which the drive knows whether asking again makes sense, for this text or at all."""
    if isinstance(error, ModelAuthenticationError | ModelNotFoundError):
        return INVALID_REQUEST
    return INVALID_PARAMS if isinstance(error, ModelContextError | ModelRequestError) else INTERNAL_ERROR
