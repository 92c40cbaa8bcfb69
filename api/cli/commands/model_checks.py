"""The part of `drive-agent doctor` about models: which one each role has, and whether it can be asked."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import httpx
from langchain_core.messages import HumanMessage

from api.cli.texts import hint_of, language, text
from graph.errors import ModelError, ModelPackageError
from graph.limits.model_table import AS_OF, context_in, prices_of
from graph.model_factory import open_models
from graph.models.asking import ask
from graph.models.overflow import ENOUGH_TOKENS, WANTED_TOKENS
from graph.models.providers import OLLAMA, needs_package, require_package
from graph.models.services import OPENAI, SERVICES, access_to
from graph.models.serving import UNKNOWN, Program, ServedModel, served_model
from graph.settings import OFFLINE, ROLES, AgentSettings, is_private_address, split_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import SecretStr

MODEL_SECONDS = 10
ANSWER_SECONDS = 60
QUESTION = "ready?"
MENDS: Mapping[Program, str] = {"llama.cpp": "llama", "ollama": "ollama", "vllm": "vllm"}
REFUSALS = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check: `warn` works but needs attention, `fail` does not work. `hint` names the next step."""

    name: str
    state: Literal["ok", "warn", "fail"]
    text: str
    hint: str = ""

    @classmethod
    def of(cls, name: str, state: Literal["ok", "warn", "fail"], code: str, **params: Any) -> Self:
        """Return a check with the sentence of a code; one that is not `ok` with its hint too."""
        return cls(name, state, text(code, **params), "" if state == "ok" else hint_of(code, **params))


@dataclass(frozen=True, slots=True)
class ModelService:
    """A provider's service: where its models are listed, and the setting with the key; empty: it needs none."""

    url: str
    path: str
    headers: dict[str, str]
    key_setting: str = ""


def check_models(settings: AgentSettings) -> Iterator[Check]:
    """Check the model of each role, and those that people may choose; a service is asked once."""
    asked: dict[str, Check] = {}

    def checked(label: str, name: str) -> Check:
        if name not in asked:
            asked[name] = check_model(settings, name)
        return replace(asked[name], name=label)

    yield checked("model", settings.resolved_model)
    for role in ROLES[1:]:
        yield checked(f"model, {role}", settings.model_of(role))
    for name in settings.allowed_models[1:]:
        yield checked("model, to choose", name)
    yield from _check_cost(settings)


def check_model(settings: AgentSettings, name: str) -> Check:
    """Check a model: its package, its key, and whether its service answers."""
    if name == OFFLINE:
        return Check("model", "ok", text("model_offline"))
    provider = split_model(name)[0] or OPENAI
    if needs_package(provider, settings):
        try:
            require_package(provider)
        except ModelPackageError as error:
            return Check("model", "fail", f"{name}: {error.in_language(language()).sentence}")
    service = _service_of(settings, provider)
    found = _ask(name, service) if service else Check("model", "ok", text("model_own_key", model=name))
    served = _served(settings, name, service) if service and found.state == "ok" else UNKNOWN
    tokens = min(context_in(settings, name), served.context or context_in(settings, name))
    said = text("model_room", found=found.text, tokens=f"{tokens:,}")
    if 0 < served.context < ENOUGH_TOKENS and served.program:
        mend = text(f"mend_{MENDS[served.program]}", tokens=WANTED_TOKENS)
        return Check("model", "warn", text("model_narrow", found=said), mend)
    return replace(found, text=said)


def _served(settings: AgentSettings, name: str, service: ModelService) -> ServedModel:
    """Ask a server on this machine or a private network how much its model really reads."""
    if not is_private_address(service.url):
        return UNKNOWN
    provider, model = split_model(name)
    sent = context_in(settings, name) if provider == OLLAMA else 0

    async def ask() -> ServedModel:
        async with httpx.AsyncClient() as client:
            return await served_model(service.url, model, client, sent)

    return asyncio.run(ask())


def _service_of(settings: AgentSettings, provider: str) -> ModelService | None:
    if provider in SERVICES:
        access = access_to(settings, provider)
        return ModelService(access.url, "/models", _bearer(access.key), SERVICES[provider].key)
    if provider == "anthropic":
        url, key = settings.anthropic_base_url or "https://api.anthropic.com", settings.anthropic_api_key
        headers = {"x-api-key": key.get_secret_value(), "anthropic-version": "2023-06-01"} if key else {}
        return ModelService(url, "/v1/models", headers, "ANTHROPIC_API_KEY")
    if provider == "ollama":
        host = settings.ollama_base_url or "127.0.0.1:11434"
        return ModelService(host if "://" in host else f"http://{host}", "/api/tags", {})
    return None


def _bearer(key: SecretStr) -> dict[str, str]:
    return {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}


def _ask(model: str, service: ModelService) -> Check:
    name = text("model_at", model=model, place=service.url)
    if service.key_setting and not service.headers:
        return Check.of("model", "warn", "model_no_key", model=name, setting=service.key_setting)
    try:
        answer = httpx.get(f"{service.url.rstrip('/')}{service.path}", headers=service.headers, timeout=MODEL_SECONDS)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        return Check.of("model", "fail", "model_unreachable", model=name, error=type(error).__name__)
    if answer.status_code in REFUSALS:
        return Check.of("model", "fail", "model_refused", model=name)
    if not answer.is_success:
        return Check.of("model", "warn", "model_status", model=name, status=answer.status_code)
    return Check("model", "ok", name)


def check_answer(settings: AgentSettings) -> Check:
    """Put one short question to the assistant's model, whose service may list models that it does not run."""
    begun = time.monotonic()
    try:
        asyncio.run(asyncio.wait_for(_ask_once(settings), ANSWER_SECONDS))
    except TimeoutError:
        return Check.of("model's answer", "fail", "answer_late", seconds=ANSWER_SECONDS)
    except ModelError as error:
        sentence = error.in_language(language()).sentence
        return Check.of("model's answer", "fail", "answer_failed", sentence=sentence)
    return Check("model's answer", "ok", text("answer_came", seconds=f"{time.monotonic() - begun:.1f}"))


async def _ask_once(settings: AgentSettings) -> None:
    async with open_models(settings.model_copy(update={"model_retries": 0})) as built:
        await ask(built.models["agent"], [HumanMessage(QUESTION)])


def _check_cost(settings: AgentSettings) -> Iterator[Check]:
    """Say for which models the limit of the cost is blind."""
    used = [*(settings.model_of(role) for role in ROLES), *settings.allowed_models]
    blind = [name for name in dict.fromkeys(used) if prices_of(settings, name) is None]
    if settings.max_run_cost and blind:
        yield Check.of("model cost", "warn", "cost_unseen", models=", ".join(blind))
    elif settings.max_run_cost:
        yield Check("model cost", "ok", text("cost_known", date=AS_OF))
