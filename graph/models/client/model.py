"""The chat model over the lean client, on LangChain's interface: streaming, tools, usage. Asked asynchronously only."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, cast
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.exceptions import ModelAPIError, ModelConnectionError, ModelInvalidRequestError
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.chat_models import agenerate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_core.utils.utils import LC_ID_PREFIX
from pydantic import ConfigDict, Field

from graph.models.client.answers import Answer
from graph.models.client.requests import request_body
from graph.models.client.transport import Endpoint
from graph.models.dialects import Dialect, is_of_template
from graph.models.serving import ServedModelReader

PARALLEL: Final = (None, False, "auto")
"""The choices of tools with which an answer may have several calls."""


class LeanChatModel(BaseChatModel):
    """Any OpenAI-compatible service's model, by chat completions. Text comes as it is said, calls come whole.

    Several tokens are one chunk where they are there already. Raises LangChain's model errors, aiohttp's, and
    ValueError.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model_name: str
    endpoint: Endpoint
    dialect: Dialect = Field(default_factory=Dialect)
    served: ServedModelReader | None = None

    @property
    def _llm_type(self) -> str:
        return "openai-compatible"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer the tools. `tool_choice`: `auto`, `none`, `any` or True (some tool), or the name of one.

        Several calls at once are asked for where the choice is the model's: not every service does that by itself.
        """
        offered = [convert_to_openai_tool(tool) for tool in tools]
        if tool_choice:
            names = [tool["function"]["name"] for tool in offered]
            kwargs["tool_choice"] = "required" if tool_choice is True else _choice(tool_choice, names)
        if tool_choice in PARALLEL:
            kwargs.setdefault("parallel_tool_calls", True)
        return self.bind(tools=offered, **kwargs)

    async def pieces(self, messages: Sequence[BaseMessage], **kwargs: Any) -> AsyncGenerator[AIMessageChunk]:
        """Yield the answer as `astream` does, without its callbacks: for when there is nobody whom they would tell."""
        run_id = f"{LC_ID_PREFIX}-{uuid4()}"
        async with aclosing(self._astream(list(messages), **kwargs)) as chunks:
            async for chunk in chunks:
                chunk.message.id = run_id
                yield cast("AIMessageChunk", chunk.message)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """Refuse: the client lives on an event loop, and nothing here asks a model from outside of one."""
        raise NotImplementedError("Ask this model with ainvoke or astream.")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del run_manager
        return await agenerate_from_stream(self._astream(messages, stop, **kwargs))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncGenerator[ChatGenerationChunk]:
        del run_manager
        answer = Answer()
        async with aclosing(self._batches(messages, {**kwargs, "stop": stop})) as batches:
            async for chunks in batches:
                if piece := answer.add(chunks):
                    yield ChatGenerationChunk(message=piece)
        if not answer.begun:
            raise ValueError("the service answered with nothing")
        if not answer.whole:
            raise ModelConnectionError("the answer was cut off")
        yield ChatGenerationChunk(message=answer.last())

    async def _batches(
        self, messages: Sequence[BaseMessage], options: Mapping[str, Any]
    ) -> AsyncGenerator[Sequence[Mapping[str, Any]]]:
        """Yield the chunks of the answer; ask again in the service's dialect if it refuses ours."""
        wishes = {"return_progress": True} if self.served and self.served.known.tells_progress else {}
        while True:
            body, begun = self.dialect.adapt(request_body(self.model_name, messages, {**options, **wishes})), False
            try:
                async with aclosing(self.endpoint.stream(body)) as batches:
                    async for chunks in batches:
                        begun = True
                        yield chunks
            except (ModelInvalidRequestError, ModelAPIError) as error:
                is_refused = isinstance(error, ModelInvalidRequestError) or is_of_template(str(error))
                if begun or not is_refused or not self.dialect.learn_from(str(error), body):
                    raise
            else:
                return


def _choice(wanted: str | dict[str, Any], names: Sequence[str]) -> str | dict[str, Any]:
    if wanted in names:
        return {"type": "function", "function": {"name": wanted}}
    return "required" if wanted == "any" else wanted
