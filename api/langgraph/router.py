"""All routes of LangGraph's API, in the order in which they are looked at: those of a turn first."""

from fastapi import FastAPI

from api.langgraph import system
from api.langgraph.assistants import routes as assistants
from api.langgraph.joining import routes as joining
from api.langgraph.protocol import routes as protocol
from api.langgraph.runs import routes as runs
from api.langgraph.runs import stateless
from api.langgraph.store import routes as store
from api.langgraph.threads import routes as threads
from api.langgraph.threads import state_routes as states


def include_langgraph(app: FastAPI) -> None:
    """Add the routes at the root. They serve the `Service` in `app.state.service`."""
    for part in (protocol, runs, stateless, threads, states, joining, assistants, store, system):
        app.include_router(part.router)
