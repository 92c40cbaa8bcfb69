"""Recognise a service's refusal of a request for its length, in any wording.

The dialects are those of OpenAI, Azure, Anthropic, DeepSeek, Mistral, Google, Qwen, Kimi, GLM, Doubao, Groq, xAI,
Bedrock, OpenRouter, LiteLLM, and of vLLM, SGLang, TGI, Ollama, llama.cpp and LM Studio.

Some servers cut a request without a word: Ollama from the front to its context (4,096 tokens below 24 GB of video
memory), others in the middle. Their own count of the request shows it, and the person is told once. A context that is
known to be too small is told with the first answer of a conversation.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage

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
_TOLD: Final[Mapping[Language, str]] = {
    "en": "(The language model read only {read:,} of about {sent:,} tokens that were sent: its server cut the rest, so "
    "this answer may miss things. {mend})",
    "zh": "（语言模型只读取了约 {sent:,} 个词元中的 {read:,} 个：模型服务截掉了其余部分，回答可能有遗漏。{mend}）",
}
_NARROW: Final[Mapping[Language, str]] = {
    "en": "(The language model can read only {context:,} tokens, which is too few: longer conversations and documents "
    "are refused or cut. {mend})",
    "zh": "（语言模型只能读取 {context:,} 个词元，太少了：较长的对话和文档会被拒绝或截断。{mend}）",
}
_MENDS: Final[Mapping[Program, Mapping[Language, str]]] = {
    "llama.cpp": {
        "en": "Start llama.cpp with -c {tokens}.",
        "zh": "请用 -c {tokens} 启动 llama.cpp。",
    },
    "ollama": {
        "en": "Start Ollama with OLLAMA_CONTEXT_LENGTH={tokens}, or set num_ctx {tokens} for the model.",
        "zh": "请用 OLLAMA_CONTEXT_LENGTH={tokens} 启动 Ollama，或为该模型设置 num_ctx {tokens}。",
    },
    "vllm": {
        "en": "Start the server with --max-model-len {tokens}.",
        "zh": "请用 --max-model-len {tokens} 启动服务。",
    },
    "": {
        "en": "Give the model a larger context (Ollama: num_ctx {tokens}; llama.cpp: -c {tokens}).",
        "zh": "请为模型设置更大的上下文（Ollama：num_ctx {tokens}；llama.cpp：-c {tokens}）。",
    },
}


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
    mend = _MENDS[program][language].format(tokens=WANTED_TOKENS)
    return _TOLD[language].format(read=read, sent=round(sent, -2), mend=mend)


def narrow_context_notice(served: ServedModel, earlier: Sequence[BaseMessage], language: Language) -> str:
    """Return the sentence for the person about a context that is too small, once in a conversation; else nothing."""
    is_narrow = served.program and 0 < served.context < ENOUGH_TOKENS
    if not is_narrow or any(CUT_REQUEST in message.additional_kwargs for message in earlier):
        return ""
    mend = _MENDS[served.program][language].format(tokens=WANTED_TOKENS)
    return _NARROW[language].format(context=served.context, mend=mend)


def with_cut_mark(answer: AIMessage) -> AIMessage:
    """Return the answer with the mark that the person was told."""
    return answer.model_copy(update={"additional_kwargs": {**answer.additional_kwargs, CUT_REQUEST: True}})
