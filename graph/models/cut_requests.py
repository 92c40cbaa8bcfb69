"""Requests of which the model's server read less than was sent: some cut them without a word.

Ollama cuts from the front to its context (4,096 tokens below 24 GB of video memory), other servers in the middle. The
server's own count of the request shows it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage

from graph.language import Language
from graph.models.serving import Program

CUT_REQUEST: Final = "cut_request"
"""Key in the `additional_kwargs` of the answer with which the person was told."""
LEAST_READ: Final = 400
"""Tokens that any server reads; a smaller count is of one that counts in another way."""
SHARE: Final = 0.55
"""Estimates of tokens are nearer to the truth than this."""
WANTED_TOKENS: Final = 16_384
_TOLD: Final[Mapping[Language, str]] = {
    "en": "(The language model read only {read:,} of about {sent:,} tokens that were sent: its server cut the rest, so "
    "this answer may miss things. {mend})",
    "zh": "（语言模型只读取了约 {sent:,} 个词元中的 {read:,} 个：模型服务截掉了其余部分，回答可能有遗漏。{mend}）",
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


def was_request_cut(answer: AIMessage, sent: float) -> bool:
    """Say whether the service counted far fewer tokens of the request than the `sent` ones, which are estimated."""
    read = (answer.usage_metadata or {}).get("input_tokens", 0)
    return LEAST_READ <= read < SHARE * sent


def cut_request_notice(
    answer: AIMessage, sent: float, program: Program, earlier: Sequence[BaseMessage], language: Language
) -> str:
    """Return the sentence for the person about a request that was cut, once in a conversation; else nothing."""
    if not was_request_cut(answer, sent) or any(CUT_REQUEST in message.additional_kwargs for message in earlier):
        return ""
    read = (answer.usage_metadata or {}).get("input_tokens", 0)
    mend = _MENDS[program][language].format(tokens=WANTED_TOKENS)
    return _TOLD[language].format(read=read, sent=round(sent, -2), mend=mend)


def with_cut_mark(answer: AIMessage) -> AIMessage:
    """Return the answer with the mark that the person was told."""
    return answer.model_copy(update={"additional_kwargs": {**answer.additional_kwargs, CUT_REQUEST: True}})
