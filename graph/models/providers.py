"""The chat models of providers whose protocol is their own, by LangChain's `init_chat_model` and their packages."""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import httpx
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from pydantic import SecretStr

from graph.errors import ModelPackageError
from graph.limits.model_table import context_in
from graph.models.services import OPENAI, SERVICES
from graph.models.serving import ServedModelReader, share_reader
from graph.settings import PROVIDERS, AgentSettings

EXTRAS: Final = frozenset({"anthropic", "deepseek", "ollama"})
"""The providers whose packages are extras of this program."""
OLLAMA: Final = "ollama"
OLLAMA_ADDRESS: Final = "http://127.0.0.1:11434"
NO_KEY: Final = "none"
"""The key for services that need none."""


def provider_model(
    provider: str, name: str, settings: AgentSettings, openai_client: Callable[[], httpx.AsyncClient]
) -> BaseChatModel:
    """Return a provider's model; one that speaks OpenAI's protocol is over that client.

    Raises `ModelPackageError` if its package is not installed.
    """
    require_package(provider)
    # An extra, which lint and types do without.
    chat_models: Any = import_module("langchain.chat_models")
    options = _options(provider, name, settings, openai_client)
    model = chat_models.init_chat_model(name, model_provider=provider, **options)
    if provider == OLLAMA:
        url = settings.ollama_base_url or OLLAMA_ADDRESS
        share_reader(model, ServedModelReader(url, name, openai_client, options["num_ctx"]))
    return model


def needs_package(provider: str, settings: AgentSettings) -> bool:
    """Say whether the provider's own package asks its models: the lean client asks all that speak OpenAI's protocol."""
    is_ours = provider == OPENAI or (provider in SERVICES and settings.chat_client == "lean")
    return not is_ours and bool(PROVIDERS[provider])


def with_answer_limit(model: BaseChatModel, tokens: int) -> Runnable[LanguageModelInput, AIMessage]:
    """Return the model with a limit of its answers; Ollama's package has another name for it than all others."""
    if "num_predict" in type(model).model_fields:
        return model.model_copy(update={"num_predict": tokens})
    return model.bind(max_tokens=tokens)


def require_package(provider: str) -> None:
    """Raise `ModelPackageError` with the command that installs a provider's package, if it is missing."""
    package = PROVIDERS[provider]
    if find_spec("langchain") is None or find_spec(package.replace("-", "_")) is None:
        wanted = f"'drive-agent[{provider}]'" if provider in EXTRAS else f"langchain {package}"
        raise ModelPackageError(f"{sys.executable} -m pip install {wanted}")


def _options(
    provider: str, name: str, settings: AgentSettings, openai_client: Callable[[], httpx.AsyncClient]
) -> dict[str, Any]:
    if provider == OLLAMA:
        # Without a size Ollama reads the end of a long request only, and says nothing about it.
        own = {"num_ctx": context_in(settings, f"{provider}:{name}"), "base_url": settings.ollama_base_url or None}
        return {**own, "client_kwargs": {"timeout": settings.first_byte_seconds(settings.ollama_base_url)}}
    limits: dict[str, Any] = {"timeout": settings.model_timeout_seconds, "max_retries": settings.model_retries}
    if provider == "anthropic":
        return {**limits, **_access(settings.anthropic_api_key, "base_url", settings.anthropic_base_url)}
    if provider == "deepseek":
        own = _access(settings.deepseek_api_key, "api_base", settings.deepseek_api_base)
        return {**limits, **own, "http_async_client": openai_client(), "streaming": True, "stream_usage": True}
    return limits


def _access(key: SecretStr, address: str, url: str) -> dict[str, Any]:
    """Return the key, and the address under its name if there is one."""
    return {"api_key": key.get_secret_value() or NO_KEY, **({address: url} if url else {})}
