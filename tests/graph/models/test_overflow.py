"""The words with which services refuse a request for its length."""

import pytest

from graph.models.overflow import is_too_long, limit_in

REFUSALS = {
    "OpenAI": (
        "context_length_exceeded: This model's maximum context length is 128000 tokens. However, your messages "
        "resulted in 130112 tokens (129000 in the messages, 1112 in the functions).",
        128_000,
    ),
    "OpenAI, responses": (
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        0,
    ),
    "OpenAI, gpt-5": (
        "Input tokens exceed the configured limit of 272000 tokens. Yours have 300000.",
        272_000,
    ),
    "OpenAI, tokens a minute": (
        "rate_limit_exceeded: Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 33000.",
        30_000,
    ),
    "DeepSeek": (
        "invalid_request_error: This model's maximum context length is 65536 tokens. However, you requested 70000 "
        "tokens (66000 in the messages, 4000 in the completion).",
        65_536,
    ),
    "Qwen": ("InvalidParameter: Range of input length should be [1, 30720]", 30_720),
    "vLLM": (
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, "
        "500 in the completion). Please reduce the length of the messages or completion.",
        4_096,
    ),
    "vLLM, decoder": (
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that it fits.",
        4_096,
    ),
    "vLLM, newer": (
        "You passed 5000 input tokens and requested 1000 output tokens. However, the model's context length is only "
        "4096 tokens, resulting in a maximum input length of 3096 tokens.",
        4_096,
    ),
    "SGLang": ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4_096),
    "TGI": ("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", 4_096),
    "Anthropic": ("invalid_request_error: prompt is too long: 210000 tokens > 200000 maximum", 200_000),
    "Anthropic, with the answer": (
        "input length and `max_tokens` exceed context limit: 190000 + 21333 > 204658, decrease input length",
        204_658,
    ),
    "Anthropic, body": ("request_too_large: Request exceeds the maximum size", 0),
    "Bedrock": ("ValidationException: Input is too long for requested model.", 0),
    "Ollama": ("the input length exceeds the context length", 0),
    "Ollama, newer": ("prompt too long; exceeded max context length by 1200 tokens", 0),
    "llama.cpp": ("the request exceeds the available context size (4096 tokens), try increasing it", 4_096),
    "LM Studio": (
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context "
        "length of only 4096 tokens, which is not enough.",
        4_096,
    ),
    "Mistral": (
        "3051: Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        32_768,
    ),
    "Google": ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
    "Kimi": ("Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)", 8_192),
    "GLM": ("1261: Prompt exceeds max length", 0),
    "Doubao": ("Total tokens of image and text exceed max message tokens.", 0),
    "xAI": ("This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131_072),
    "LiteLLM": ("litellm.ContextWindowExceededError: ...", 0),
}


@pytest.mark.parametrize("service", REFUSALS)
def test_a_refusal_for_length_is_known_in_every_dialect_with_the_limit_that_it_names(service: str) -> None:
    said, limit = REFUSALS[service]
    assert is_too_long(said)
    assert limit_in(said) == limit


def test_the_status_for_a_large_body_says_it_without_words() -> None:
    assert is_too_long("<html>nginx</html>", 413)


@pytest.mark.parametrize(
    "said",
    [
        "rate_limit_exceeded: Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000",
        "insufficient_quota: You exceeded your current quota, please check your plan and billing details.",
        "Invalid value: 'maximum'. The field is too long.",
        "max_tokens is too large: 200000. This model supports at most 16384 completion tokens.",
        "the answer is longer than 4000000 characters",
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
    ],
)
def test_other_refusals_are_not_taken_for_it(said: str) -> None:
    assert not is_too_long(said, 400)
