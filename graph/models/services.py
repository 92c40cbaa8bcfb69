"""Services that speak OpenAI's protocol: their addresses, the settings with their keys, and rules that are known.

The lean client asks them all. A rule is here if a service says nothing when it is broken, or always refuses it:
other demands are learnt (`dialects.py`).
"""

from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

from pydantic import SecretStr

from graph.settings import AgentSettings

AS_OF: Final = "2026-11-22"
"""The day on which the addresses were looked up."""
OPENAI: Final = "openai"
MAX_TOKENS: Final = frozenset({"max_completion_tokens"})
"""These services know the limit of an answer as `max_tokens` only."""

CACHE_MARKS: Final = frozenset({"cache_marks"})
"""Gateways that pass marks for the cache on to the services that want them."""


class Service(NamedTuple):
    """A service: its address, and the names of the settings with its key and with another address."""

    url: str
    key: str
    address: str
    rules: frozenset[str] = frozenset()


class Access(NamedTuple):
    """The address of a service and the key for it, by the settings."""

    url: str
    key: SecretStr
    rules: frozenset[str]


SERVICES: Final[dict[str, Service]] = {
    OPENAI: Service("https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "dashscope": Service(
        "https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", "DASHSCOPE_API_BASE", MAX_TOKENS
    ),
    "deepseek": Service("https://api.deepseek.com", "DEEPSEEK_API_KEY", "DEEPSEEK_API_BASE", MAX_TOKENS),
    "groq": Service("https://api.groq.com/openai/v1", "GROQ_API_KEY", "GROQ_API_BASE"),
    "mistralai": Service(
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        "MISTRAL_BASE_URL",
        MAX_TOKENS | {"stream_options", "tool_call_id"},
    ),
    "openrouter": Service("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "OPENROUTER_API_BASE", CACHE_MARKS),
    "together": Service("https://api.together.xyz/v1", "TOGETHER_API_KEY", "TOGETHER_API_BASE", MAX_TOKENS),
    "xai": Service("https://api.x.ai/v1", "XAI_API_KEY", "XAI_API_BASE"),
}


def access_to(settings: AgentSettings, provider: str) -> Access:
    """Return where and with which key the provider is asked; `OPENAI_BASE_URL` may lead to another one of the table."""
    service = SERVICES[provider]
    url = cast("str", getattr(settings, service.address.lower())) or service.url
    host = urlsplit(url).hostname
    there = (other.rules for other in SERVICES.values() if urlsplit(other.url).hostname == host)
    return Access(url.rstrip("/"), getattr(settings, service.key.lower()), service.rules.union(*there))
