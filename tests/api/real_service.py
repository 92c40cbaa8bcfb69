"""The real service, whole: drive, MCP, graph and HTTP; only the model is made up."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from httpx import ASGITransport, AsyncClient
from pydantic import SecretStr

from api.app import create_app
from drive_server.kernel.settings import DriveSettings
from graph.settings import AgentSettings
from tests.api.fakes import ManualClock
from tests.api.serving import RunningApp
from tests.databases import IS_POSTGRES, drive_url
from tests.e2e.person import Person
from tests.fakes.chat_model import ScriptedChatModel, route_to

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from fastapi import FastAPI
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

    from api.clock import Clock

SECRETS_KEY: Final = "3zAcW1ewzA0xL9oQb2HDgcYkTUS8jCCUqyEJd-P3cD0="  # made up for the tests


def real_app(
    data_dir: Path,
    model: BaseChatModel,
    *,
    router: BaseChatModel | None = None,
    clock: Clock | None = None,
    agent: AgentSettings | None = None,
    **drive_settings: Any,
) -> FastAPI:
    """Return the application over a data directory. The model has every role; `router` takes that one from it."""
    agent = agent or AgentSettings(model="offline")
    if IS_POSTGRES:
        drive_settings.setdefault("database_url", drive_url(data_dir))
    if (url := drive_settings.get("database_url", "")).startswith("postgresql"):
        threads_url = agent.threads_url or url.replace("+psycopg", "")
        agent = agent.model_copy(update={"threads_url": threads_url, "secrets_key": SecretStr(SECRETS_KEY)})
    drive = DriveSettings(data_dir=data_dir, embedding_model="none", **drive_settings)
    models: Any = {"router": router or model, "planner": model, "agent": model}
    return _with_owner(create_app(drive, agent, models=models, clock=clock))


def _with_owner(app: FastAPI) -> FastAPI:
    """Have the owner of the data directory made, whose token the tests use, also where the service itself has none."""
    served = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[Any]:
        async with served(app) as state:
            await app.state.drive.identity.ensure_local_user()
            yield state

    app.router.lifespan_context = lifespan
    return app


@asynccontextmanager
async def real_client(data_dir: Path, model: BaseChatModel, **options: Any) -> AsyncGenerator[AsyncClient]:
    """Yield the owner's client of the application in this process, without a port."""
    app = real_app(data_dir, model, **options)
    async with app.router.lifespan_context(app):
        headers = {"Authorization": f"Bearer {(data_dir / 'token').read_text().strip()}"}
        async with AsyncClient(transport=ASGITransport(app), base_url="http://127.0.0.1", headers=headers) as client:
            yield client


class RealService(RunningApp):
    """The application on a port; see `real_app`."""

    def __init__(self, data_dir: Path, model: BaseChatModel, **options: Any) -> None:
        super().__init__(real_app(data_dir, model, **options))
        self.data_dir = data_dir

    def owner(self) -> Person:
        """Return the local owner."""
        return Person.owner(self.url, self.data_dir)


class DriveRouter(ScriptedChatModel):
    """Sends everything to the Drive agent."""

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        del messages, offered
        return route_to("drive_agent")


class World:
    """The service with a model that does what a test wrote down, whatever it reads."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.model = ScriptedChatModel()
        self.clock = ManualClock()
        self._app = RealService(data_dir, self.model, router=DriveRouter(), clock=self.clock).start()
        self._owner = self._app.owner()
        self._people = [self._owner]

    def person(self, name: str) -> Person:
        """Make an account."""
        self._people.append(self._owner.add_new(name))
        return self._people[-1]

    def stop(self) -> None:
        """End it, and everybody's connections."""
        for person in self._people:
            person.close()
        self._app.stop()
