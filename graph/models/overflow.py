"""Recognise a service's refusal of a request for its length, in any wording.

The dialects are those of OpenAI, Azure, Anthropic, DeepSeek, Mistral, Google, Qwen, Kimi, GLM, Doubao, Groq, xAI,
Bedrock, OpenRouter, LiteLLM, and of vLLM, SGLang, TGI, Ollama, llama.cpp and LM Studio.

Some servers cut a request without a word: Ollama from the front to its context (4,096 tokens below 24 GB of video
memory), others in the middle. Their own count of the request shows it, and the person is told once. A context that is
known to be too small is told with the first answer of a conversation.
"""

import re
from collections.abc import Sequence
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage

from drive_server.kernel.texts import Texts
from graph.language import Language
from graph.models.serving import Program, ServedModel

TOO_LARGE: Final = 413
"""The HTTP status for a body that is too large (RFC 9110, 15.5.14)."""
DIALECTS: Final = re.compile(
    r"""
    context_length_exceeded | context.?window.?exceeded | exceed_context_size | string_above_max_length
    | maximum \s (?:context|prompt|model|sequence) \s length | (?:max_seq_len|max_model_len)
    | context \s length \s of \s only | context(?:'s)? \s length \s is \s only
    | longer \s than \s the \s (?:model'?s? \s)? (?:context|maximum) \s
    | exceed(?:s|ed)? \s (?:the \s|the \s model'?s \s|your \s model'?s \s)?
        (?:available \s |max(?:imum)? \s |maximum \s allowed \s )? (?:context|input \s (?:token|length))
    | exceed(?:s|ed)? \s (?:model \s token \s limit | context \s limit | max \s length)
    | exceed(?:s|ed)? \s max(?:imum)? \s message \s tokens
    | exceeds \s the \s (?:configured \s limit | maximum \s number \s of \s tokens)
    | input \s tokens \s exceed \s the \s configured \s limit
    | (?:prompt|input) \s (?:is \s)? too \s long | prompt \s 超长 | request_too_large | request \s too \s large \s for
    | too \s large \s for \s model | range \s of \s input \s length | reduce \s the \s length \s of
    | max_new_tokens` \s must \s be | max_new_tokens \s must \s be
    """,
    re.IGNORECASE | re.VERBOSE,
)
LIMITS: Final = re.compile(
    r"""
    (?:maximum \s (?:context|prompt|model|sequence) \s length | context \s length | configured \s limit
        | context \s (?:size|window) | token \s limit | tokens \s allowed | max_seq_len | max_model_len)
        (?!\s by) [^0-9]{0,20} (\d{3,8})
    | > \s (\d{3,8}) (?:\s maximum)? | \(TPM\): \s limit \s (\d{3,8}) | with \s (\d{3,8}) \s maximum \s context
    | must \s be \s <= \s (\d{3,8}) | \[ \d+, \s? (\d{3,8}) \]
    """,
    re.IGNORECASE | re.VERBOSE,
)
CUT_REQUEST: Final = "cut_request"
"""Key in the `additional_kwargs` of the answer with which the person was told."""
LEAST_READ: Final = 400
"""Tokens that any server reads; a smaller count is of one that counts in another way."""
LEAST_SHARE: Final = 0.55
"""Estimates of tokens are nearer to the truth than this."""
WANTED_TOKENS: Final = 16_384
ENOUGH_TOKENS: Final = 8_192
"""A smaller context cuts requests, in some servers without a word."""
TEXTS: Final = Texts.beside(__file__)


def is_too_long(said: str, status: int | None = None) -> bool:
    """Say whether a refusal, by its code and words together or by its HTTP status, is for the request's length."""
    return status == TOO_LARGE or DIALECTS.search(said) is not None


def limit_in(said: str) -> int:
    """Return the limit in tokens that the refusal names; 0 if it names none."""
    found = LIMITS.search(said)
    return next((int(number) for number in found.groups() if number), 0) if found else 0


def was_request_cut(answer: AIMessage, sent: float) -> bool:
    """Say whether the service counted far fewer tokens of the request than the `sent` ones, which are estimated."""
    read = (answer.usage_metadata or {}).get("input_tokens", 0)
    return LEAST_READ <= read < LEAST_SHARE * sent


def cut_request_notice(
    answer: AIMessage, sent: float, program: Program, earlier: Sequence[BaseMessage], language: Language
) -> str:
    """Return the sentence for the person about a request that was cut, once in a conversation; else nothing."""
    if not was_request_cut(answer, sent) or any(CUT_REQUEST in message.additional_kwargs for message in earlier):
        return ""
    read = (answer.usage_metadata or {}).get("input_tokens", 0)
    mend = TEXTS.say(f"mend.{program or 'any'}", language, tokens=WANTED_TOKENS)
    return TEXTS.say("request_cut", language, read=read, sent=round(sent, -2), mend=mend)


def narrow_context_notice(served: ServedModel, earlier: Sequence[BaseMessage], language: Language) -> str:
    """Return the sentence for the person about a context that is too small, once in a conversation; else nothing."""
    is_narrow = served.program and 0 < served.context < ENOUGH_TOKENS
    if not is_narrow or any(CUT_REQUEST in message.additional_kwargs for message in earlier):
        return ""
    mend = TEXTS.say(f"mend.{served.program or 'any'}", language, tokens=WANTED_TOKENS)
    return TEXTS.say("context_narrow", language, context=served.context, mend=mend)


def with_cut_mark(answer: AIMessage) -> AIMessage:
    """Return the answer with the mark that the person was told."""
    return answer.model_copy(update={"additional_kwargs": {**answer.additional_kwargs, CUT_REQUEST: True}})
