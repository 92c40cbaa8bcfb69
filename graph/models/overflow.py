"""Tell that a service refused a request for its length, in whatever words it says so.

The dialects are those of OpenAI, Azure, Anthropic, DeepSeek, Mistral, Google, Qwen, Kimi, GLM, Doubao, Groq, xAI,
Bedrock, OpenRouter, LiteLLM, and of vLLM, SGLang, TGI, Ollama, llama.cpp and LM Studio.
"""

import re
from typing import Final

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


def is_too_long(said: str, status: int | None = None) -> bool:
    """Say whether a refusal, by its code and words together or by its HTTP status, is for the request's length."""
    return status == TOO_LARGE or DIALECTS.search(said) is not None


def limit_in(said: str) -> int:
    """Return the limit in tokens that the refusal names; 0 if it names none."""
    found = LIMITS.search(said)
    return next((int(number) for number in found.groups() if number), 0) if found else 0
