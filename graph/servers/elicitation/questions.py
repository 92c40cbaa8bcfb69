"""A server's question to its person, as they may see it: a form to fill in, or an address to go to."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import httpx
from mcp.types import (
    URL_ELICITATION_REQUIRED,
    ElicitationRequiredErrorData,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
)
from pydantic import ValidationError

from graph.servers.elicitation.forms import cut, read_form
from graph.servers.pins import cleaned

MAX_MESSAGE: Final = 2_000
MAX_URL: Final = 2_000
MAX_QUESTIONS: Final = 5
"""Questions of one call: after that its server gets no more answers."""
SECRET: Final = re.compile(
    r"pass[\s_-]?(word|wd|phrase|code)|secret|token|api[\s_-]?key|private[\s_-]?key|credential|\bpin\b|\bcvv\b|\bcvc\b"
    r"|card[\s_-]?number|密码|口令|令牌|密钥|私钥|验证码|卡号",
    re.IGNORECASE,
)
"""Words of fields that a form must not have (MCP, elicitation: form mode is not for sensitive information)."""


@dataclass(frozen=True, slots=True)
class Question:
    """`schema` is a form's; `url` and `host` are of an address, the host as it is looked up (punycode).

    `secrets` are the fields that seem to want a password or a key; `elicitation_id` is the server's.
    """

    mode: Literal["form", "url"]
    message: str
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    url: str = ""
    host: str = ""
    secrets: tuple[str, ...] = ()
    elicitation_id: str = ""


Ask = Callable[[Question], Awaitable[ElicitResult]]
"""Asks the person, and returns their answer."""


class UrlsRequiredError(Exception):
    """A server wants its person to go to these addresses before it takes the call, which was not carried out."""

    def __init__(self, questions: tuple[Question, ...]) -> None:
        super().__init__(f"{len(questions)} addresses")
        self.questions = questions


def read_question(params: ElicitRequestParams) -> Question:
    """Return the question. Raises `ValueError` for one that a person can't be asked."""
    message = cut(params.message, MAX_MESSAGE)
    if isinstance(params, ElicitRequestURLParams):
        url = _read_url(params.url)
        return Question(
            "url", message, url=str(url), host=url.netloc.decode("ascii"), elicitation_id=params.elicitationId
        )
    return _form(message, params)


def read_required_urls(error: ErrorData) -> tuple[Question, ...]:
    """Return the addresses that the server wants its person to open first; none if the error is another one.

    Raises `ValueError` if a person can't be asked that.
    """
    if error.code != URL_ELICITATION_REQUIRED:
        return ()
    try:
        required = ElicitationRequiredErrorData.model_validate(error.data)
    except ValidationError as invalid:
        raise ValueError("it names no addresses") from invalid
    return tuple(map(read_question, required.elicitations[:MAX_QUESTIONS]))


def _form(message: str, params: ElicitRequestFormParams) -> Question:
    schema = read_form(params.requestedSchema)
    fields: Mapping[str, Mapping[str, Any]] = schema["properties"]
    secrets = tuple(name for name, one in fields.items() if _is_secret(name, one))
    return Question("form", message, schema=schema, secrets=secrets)


def _is_secret(name: str, shown: Mapping[str, Any]) -> bool:
    """Say whether a field of text seems to want a secret; `apiKey` is read as `api Key`."""
    if shown["type"] != "string" or "enum" in shown or "oneOf" in shown:
        return False
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name)
    return any(SECRET.search(text) for text in (words, shown.get("title", ""), shown.get("description", "")))


def _read_url(text: str) -> httpx.URL:
    """Return an address that a person can be shown as it is. Raises `ValueError`."""
    if len(text) > MAX_URL or cleaned(text) != text or re.search(r"\s|\\", text):
        raise ValueError("the address is too long, or has characters that can't be seen")
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise ValueError("the address is not valid") from error
    if url.scheme not in {"http", "https"} or not url.host or url.userinfo:
        raise ValueError("only http and https addresses without a user name can be shown")
    return url
