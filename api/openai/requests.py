"""The bodies that clients of OpenAI's API send. Fields that mean nothing here are ignored, as other services do."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import override

MAX_MESSAGES: Final = 5_000
MAX_PARTS: Final = 100

ModelName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class OpenAIBody(BaseModel):
    """Base of all bodies."""

    model_config = ConfigDict(extra="ignore")


class Part(OpenAIBody):
    """A part of a message: a text, a picture or a file, in the words of either protocol."""

    type: str = ""
    text: str | None = None
    image_url: dict[str, Any] | str | None = None
    file: dict[str, Any] | None = None
    file_data: str | None = None
    file_id: str | None = None
    file_url: str | None = None
    filename: str | None = None


Content = str | Annotated[list[Part], Field(max_length=MAX_PARTS)] | None


class StreamOptions(OpenAIBody):
    """Additions to a stream beside the answer."""

    include_usage: bool = False


class JsonSchema(OpenAIBody):
    """A JSON schema by the name that its client gives it."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")] = "answer"
    form: dict[str, Any] | None = Field(default=None, alias="schema")
    strict: bool | None = None


class AnswerFormat(JsonSchema):
    """The form of an answer: words, any JSON object, or one that fits a schema, which may stand in a field of its own.

    That field is of chat completions; responses have the schema right here.
    """

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: JsonSchema | None = None

    @property
    def schema_given(self) -> JsonSchema:
        """The schema, wherever it stands."""
        return self.json_schema or self


class TextOptions(OpenAIBody):
    """Options of a response's text."""

    format: AnswerFormat | None = None


class ToolBody(OpenAIBody):
    """The fields of both protocols beside the messages. Tools of a client are never called."""

    tool_choice: Any = None
    stream: bool | None = False
    model: ModelName

    @property
    def format(self) -> AnswerFormat | None:
        """The form of the answer that the client asks for."""
        return None

    @property
    def requires_tool(self) -> bool:
        """Say whether the client accepts nothing but a call of its own tools."""
        return self.tool_choice == "required"


class ChatMessage(OpenAIBody):
    """A message of chat completions."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content = None


class ChatCompletionBody(ToolBody):
    """The body of `POST /v1/chat/completions`."""

    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MAX_MESSAGES)]
    stream_options: StreamOptions | None = None
    response_format: AnswerFormat | None = None

    @property
    @override
    def format(self) -> AnswerFormat | None:
        """The form of the answer that the client asks for."""
        return self.response_format


class InputItem(OpenAIBody):
    """An item of a response's input: a message, an answer to an approval, or something that means nothing here."""

    type: str = "message"
    role: str = ""
    content: Content = None
    approval_request_id: Id | None = None
    approve: bool | None = None
    reason: str | None = Field(default=None, max_length=10_000)


class NamedConversation(OpenAIBody):
    """A conversation by its id."""

    id: Id


class ResponseBody(ToolBody):
    """The body of `POST /v1/responses`."""

    input: str | Annotated[list[InputItem], Field(min_length=1, max_length=MAX_MESSAGES)]
    instructions: str | None = None
    previous_response_id: Id | None = None
    conversation: Id | NamedConversation | None = None
    text: TextOptions | None = None

    @property
    @override
    def format(self) -> AnswerFormat | None:
        """The form of the answer that the client asks for."""
        return self.text.format if self.text else None

    @property
    def conversation_id(self) -> str | None:
        """Return the id of the conversation that goes on."""
        return self.conversation.id if isinstance(self.conversation, NamedConversation) else self.conversation
