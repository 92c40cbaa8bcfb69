"""Ask a model for an answer of a shape: one ladder, whose next step is taken when a service refuses the one above.

A JSON schema for the answer, a tool that has to be called, one that may be called with JSON in the text in its place,
and JSON in the text alone. The dialect of the service (`dialects.py`) remembers which step it stands on.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, ValidationError

from graph.errors import (
    ModelContextError,
    ModelError,
    ModelLengthError,
    ModelNotFoundError,
    ModelOutputError,
    ModelRequestError,
)
from graph.limits.budget import Spending
from graph.models.asking import ChatRunnable, ask, dialect_of, was_cut
from graph.models.client import LeanChatModel
from graph.models.dialects import JSON_SCHEMA, RULES, TOOL_CHOICE, TOOLS
from graph.models.shapes import AnswerShape, is_of_client
from graph.models.shortening import ask_once_shorter

Schema = TypeVar("Schema", bound=BaseModel)

REPORTED_FAULTS: Final = 5
QUOTED_CHARACTERS: Final = 2_000
"""Characters of its wrong answer that a model sees again."""
NO_OBJECT: Final = "no object in the answer"
SHOWS_SCHEMA: Final = "https://api.openai.com/"
"""This service shows the model the schema of its answer; others only keep it from writing anything else."""
JSON_ALONE: Final = "Answer with one JSON object alone, without a word beside it. It has to fit this JSON schema: {}"
TOOL_OR_JSON: Final = (
    "Answer by calling the tool {}. If you can't call it, answer with the JSON of its arguments alone."
)
NOT_IN_STRICT: Final = frozenset({"default", "title", "minLength", "maxLength"})
"""Keywords that strict schemas must not have (OpenAI API, "structured outputs")."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the ladder, and the rule of the services that refuse it."""

    rule: str
    bind: Callable[[BaseChatModel, type[BaseModel]], ChatRunnable]
    hint: Callable[[BaseChatModel, type[BaseModel]], str]
    repair: str = "Answer with the JSON object alone."


async def ask_for(
    model: BaseChatModel,
    schema: type[Schema],
    messages: Sequence[BaseMessage],
    *,
    spending: Spending | None = None,
    repairs: int = 0,
) -> Schema:
    """Return the model's answer in the shape of `schema`; raise `ModelOutputError` if it has another.

    A request whose length is refused is sent once more with less. An answer of another shape is sent back with its
    faults, at most `repairs` times. The usage of all answers is added to `spending`.
    """
    asked = messages
    while True:
        step, answer, sent = await _climb_once_shorter(model, schema, asked)
        if spending is not None:
            spending.add(answer, sent)
        try:
            return _shaped(schema, answer)
        except ModelOutputError as error:
            if was_cut(answer):
                raise ModelLengthError(str(error)) from error
            if error.detail == NO_OBJECT and step.rule == JSON_SCHEMA:
                _learn(model, schema, [JSON_SCHEMA])
            if repairs <= 0:
                raise
            repairs -= 1
            asked = [*messages, *_repair_messages(schema, answer, str(error), step)]


async def _climb_once_shorter(
    model: BaseChatModel, schema: type[BaseModel], messages: Sequence[BaseMessage]
) -> tuple[Step, AIMessage, Sequence[BaseMessage]]:
    """Also return the messages that the service answered."""

    async def climb(asked: Sequence[BaseMessage]) -> tuple[Step, AIMessage, Sequence[BaseMessage]]:
        return *(await _climb(model, schema, asked)), asked

    return await ask_once_shorter(climb, messages)


async def _climb(
    model: BaseChatModel, schema: type[BaseModel], messages: Sequence[BaseMessage]
) -> tuple[Step, AIMessage]:
    """Ask on the highest step that the service does not refuse, and remember the refused ones."""
    dialect, refused = dialect_of(model), list[str]()
    begun = 0 if isinstance(model, LeanChatModel) else 1
    for step in [step for step in LADDER[begun:] if not dialect.has(step.rule)]:
        try:
            hinted = _with_hint(messages, step.hint(model, schema))
            answer = await ask(step.bind(model, schema), hinted, hidden=True)
        except (ModelRequestError, ModelNotFoundError) as error:
            if not _is_refused(step, error):
                raise
            refused.append(step.rule)
        else:
            _learn(model, schema, refused)
            return step, answer
    raise AssertionError


def _learn(model: BaseChatModel, schema: type[BaseModel], rules: Sequence[str]) -> None:
    for rule in () if is_of_client(schema) else rules:
        dialect_of(model).learn(rule)


def _is_refused(step: Step, error: ModelError) -> bool:
    """Say whether the error is the step's: it names it. Of a schema services know so little that some name nothing."""
    if step is LADDER[-1] or isinstance(error, ModelContextError):
        return False
    is_silent = step.rule == JSON_SCHEMA and isinstance(error, ModelRequestError)
    return is_silent or RULES[step.rule].words.search(error.detail) is not None


def _with_hint(messages: Sequence[BaseMessage], hint: str) -> list[BaseMessage]:
    """Add the hint to the system's message, so that the order of roles stays."""
    if not hint:
        return list(messages)
    first = messages[0] if messages else None
    if not isinstance(first, SystemMessage):
        return [SystemMessage(hint), *messages]
    return [SystemMessage(f"{first.text}\n\n{hint}"), *messages[1:]]


def _bind_schema(model: BaseChatModel, schema: type[BaseModel]) -> ChatRunnable:
    if issubclass(schema, AnswerShape):
        return cast("ChatRunnable", model.bind(response_format=dict(schema.response_format)))
    form = {"name": schema.__name__, "schema": _form_of(schema), "strict": True}
    return cast("ChatRunnable", model.bind(response_format={"type": "json_schema", "json_schema": form}))


def _form_of(schema: type[BaseModel]) -> dict[str, Any]:
    form = schema.model_json_schema()
    return form if is_of_client(schema) else strict_schema(form)


def _bind_required(model: BaseChatModel, schema: type[BaseModel]) -> ChatRunnable:
    return model.bind_tools([schema], tool_choice="any")


def _bind_offered(model: BaseChatModel, schema: type[BaseModel]) -> ChatRunnable:
    return model.bind_tools([schema])


def _bind_nothing(model: BaseChatModel, schema: type[BaseModel]) -> ChatRunnable:
    del schema
    return cast("ChatRunnable", model.bind())


def _schema_hint(model: BaseChatModel, schema: type[BaseModel]) -> str:
    is_shown = isinstance(model, LeanChatModel) and model.endpoint.url.startswith(SHOWS_SCHEMA)
    return "" if is_shown and "properties" in schema.model_json_schema() else _json_hint(model, schema)


def _json_hint(model: BaseChatModel, schema: type[BaseModel]) -> str:
    del model
    return JSON_ALONE.format(json.dumps(_form_of(schema), ensure_ascii=False))


def _tool_hint(model: BaseChatModel, schema: type[BaseModel]) -> str:
    del model
    return TOOL_OR_JSON.format(schema.__name__)


def _no_hint(model: BaseChatModel, schema: type[BaseModel]) -> str:
    del model, schema
    return ""


LADDER: Final = (
    Step(JSON_SCHEMA, _bind_schema, _schema_hint),
    Step(TOOL_CHOICE, _bind_required, _no_hint, "Call the tool {} as it is declared."),
    Step(TOOLS, _bind_offered, _tool_hint, "Call the tool {} as it is declared, or answer with its JSON alone."),
    Step("", _bind_nothing, _json_hint),
)


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with every property required, none beside them, and no keyword that strict ones refuse."""
    strict: dict[str, Any] = {}
    for key, value in schema.items():
        if key in {"properties", "$defs"}:
            strict[key] = {name: strict_schema(part) for name, part in value.items()}
        elif key not in NOT_IN_STRICT:
            strict[key] = _strict(value)
    if "properties" in strict:
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return strict_schema(cast("dict[str, Any]", value))
    return [_strict(part) for part in cast("list[Any]", value)] if isinstance(value, list) else value


def _shaped(schema: type[Schema], answer: AIMessage) -> Schema:
    call = next((call for call in answer.tool_calls if call["name"] == schema.__name__), None)
    if answer.tool_calls and call is None:
        raise ModelOutputError(f"no tool of this name: {answer.tool_calls[0]['name'][:QUOTED_CHARACTERS]}")
    try:
        return schema.model_validate(call["args"] if call else _json_in(answer.text))
    except ValidationError as error:
        raise ModelOutputError(_problem_with(error)) from error


def _problem_with(error: ValidationError) -> str:
    parts = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(
        f"{'.'.join(map(str, part['loc'])) or 'answer'}: {part['msg']}" for part in parts[:REPORTED_FAULTS]
    )


def _repair_messages(schema: type[BaseModel], answer: AIMessage, wrong: str, step: Step) -> list[BaseMessage]:
    """Return the answer as plain text, since a call that gets no result is refused by some services, and the fault."""
    calls = [f"{call['name']}: {json.dumps(call['args'], ensure_ascii=False)}" for call in answer.tool_calls]
    broken = [f"{call['name']}: {call['args']}" for call in answer.invalid_tool_calls]
    said = "\n".join(filter(None, [answer.text, *calls, *broken]))[:QUOTED_CHARACTERS] or "(nothing)"
    return [
        AIMessage(said),
        HumanMessage(f"That was no answer: {wrong}. {step.repair.format(schema.__name__)}"),
    ]


def _json_in(text: str) -> Any:
    """Find the object in the text: models that know no tools write it there, often inside a fence."""
    start, end = text.find("{"), text.rfind("}")
    try:
        return json.loads(text[start : end + 1])
    except json.JSONDecodeError as error:
        raise ModelOutputError(NO_OBJECT) from error
