"""Build the chat model of each role, once, over shared HTTP clients; and those that a conversation may have instead."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
from langchain_core.language_models import BaseChatModel

from graph.models.asking import share_dialect
from graph.models.client import Connections, Endpoint, LeanChatModel, answer_limit, proxy_for
from graph.models.dialects import FILE_NAME, Dialects
from graph.models.providers import NO_KEY, needs_package, provider_model
from graph.models.services import OPENAI, Access, access_to
from graph.models.serving import ServedModelReader, share_reader
from graph.settings import OFFLINE, ROLES, AgentSettings, ModelRole, split_model

CONNECT_SECONDS: Final = 10.0
KEEPALIVE_CONNECTIONS: Final = 200
KEEPALIVE_SECONDS: Final = 20.0
RESPONSES_ONLY: Final = re.compile(r"codex|^gpt-[\d.]+-(?:pro|sol)\b|^gpt-6|^o\d-pro")
"""Models of OpenAI that speak another protocol than chat completions, with tools at least."""


@dataclass(frozen=True, slots=True)
class ModelSet:
    """The models of the settings by their roles, and by name those of a conversation that has chosen another one."""

    models: Mapping[ModelRole, BaseChatModel]
    choices: Mapping[str, Mapping[ModelRole, BaseChatModel]] = field(
        default_factory=dict[str, Mapping[ModelRole, BaseChatModel]]
    )


class Clients:
    """The HTTP clients of all models, each made for the first model that needs it, and the dialects of the services."""

    def __init__(self, dialects: Dialects | None = None) -> None:
        self.dialects = dialects or Dialects()
        self._openai: httpx.AsyncClient | None = None

    @cached_property
    def lean(self) -> Connections:
        """The lean client's."""
        return Connections(CONNECT_SECONDS, KEEPALIVE_SECONDS)

    def openai(self, stall_seconds: float) -> httpx.AsyncClient:
        """Return the client for OpenAI's own library; its first user says how long an answer may be silent."""
        if self._openai is None:
            limits = httpx.Limits(
                max_connections=None,
                max_keepalive_connections=KEEPALIVE_CONNECTIONS,
                keepalive_expiry=KEEPALIVE_SECONDS,
            )
            # Compressed, a short answer may hold a long one: httpx would take it all at once.
            self._openai = httpx.AsyncClient(
                limits=limits,
                headers={"accept-encoding": "identity"},
                event_hooks={"response": [answer_limit(stall_seconds)]},
            )
        return self._openai

    async def aclose(self) -> None:
        """Close those that were made, and wait until all that was learnt is stored."""
        await asyncio.to_thread(self.dialects.flush)
        for client in list(vars(self).values()):
            if isinstance(client, Connections | httpx.AsyncClient):
                await client.aclose()


@asynccontextmanager
async def open_models(settings: AgentSettings, directory: Path | None = None) -> AsyncGenerator[ModelSet]:
    """Build the models over HTTP clients of their own, and close these at the end.

    Facts learnt about their services are stored in a file of the directory.
    """
    dialects = await asyncio.to_thread(Dialects, directory / FILE_NAME) if directory else None
    async with aclosing(Clients(dialects)) as clients:
        yield build_model_set(settings, clients)


def build_model_set(settings: AgentSettings, clients: Clients | None = None) -> ModelSet:
    """Return the models of the settings and of all choices; those with one name are one. The caller closes `clients`.

    There is only a router where it has a model of its own: the agents' model would take as long to name a specialist as
    to answer. The offline model routes by rules, in no time. Raises `ModelPackageError` for a model whose package is
    not installed.
    """
    clients, built = clients or Clients(), dict[str, BaseChatModel]()

    def models_with(chosen: str) -> dict[ModelRole, BaseChatModel]:
        names: dict[ModelRole, str] = {role: settings.model_of(role, chosen) for role in ROLES}
        if names["router"] == names["agent"] != OFFLINE:
            del names["router"]
        for name in names.values():
            if name not in built:
                built[name] = _build(name, settings, clients)
        return {role: built[name] for role, name in names.items()}

    choices = {name: models_with(name) for name in settings.allowed_models}
    return ModelSet(choices[settings.resolved_model], choices)


def build_models(settings: AgentSettings, clients: Clients | None = None) -> Mapping[ModelRole, BaseChatModel]:
    """Return the model of each role; roles with one name share one. The caller closes `clients`, if given."""
    return build_model_set(settings, clients).models


def _build(name: str, settings: AgentSettings, clients: Clients) -> BaseChatModel:
    # Each import costs up to a second, and only one of the two is needed.
    if name == OFFLINE:
        from graph.offline.model import OfflineChatModel

        return OfflineChatModel()
    provider, name = split_model(name)
    provider = provider or OPENAI
    if needs_package(provider, settings):
        return provider_model(provider, name, settings, lambda: clients.openai(settings.model_stall_seconds))
    access = access_to(settings, provider)
    dialect = clients.dialects.of(access.url, name, access.rules)
    served = ServedModelReader(access.url, name, lambda: clients.openai(settings.model_stall_seconds))
    if settings.chat_client == "lean" and not (provider == OPENAI and RESPONSES_ONLY.search(name)):
        endpoint = _endpoint(access, settings, clients.lean)
        return LeanChatModel(model_name=name, endpoint=endpoint, dialect=dialect, served=served)
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(
        model=name,
        api_key=access.key if access.key.get_secret_value() else lambda: NO_KEY,
        base_url=access.url,
        max_retries=settings.model_retries,
        timeout=httpx.Timeout(settings.first_byte_seconds(access.url), connect=CONNECT_SECONDS),
        stream_chunk_timeout=None,  # it does not count a service's comments; the client's own limit does
        http_async_client=clients.openai(settings.model_stall_seconds),
        streaming=True,
        stream_usage=True,
    )
    share_dialect(model, dialect)
    share_reader(model, served)
    return model


def _endpoint(access: Access, settings: AgentSettings, connections: Connections) -> Endpoint:
    headers = {"content-type": "application/json", "accept": "text/event-stream, application/json"}
    if (
        urlsplit(access.url).username is None
    ):  # else aiohttp makes the header of the name and the password in the address
        headers["authorization"] = f"Bearer {access.key.get_secret_value() or NO_KEY}"
    return Endpoint(
        url=access.url,
        headers=headers,
        connections=connections,
        proxy=proxy_for(access.url),
        first=settings.first_byte_seconds(access.url),
        between=settings.model_stall_seconds,
        retries=settings.model_retries,
    )
