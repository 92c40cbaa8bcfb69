"""The seam of the service's answers: every field of every class leaves filtered, unless it says why not."""

from typing import TYPE_CHECKING, cast, get_args

import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel

from api.http import schemas, server_schemas
from api.http.filtered_route import FilteredRoute
from api.http.routes import approvals, branches, chat, grants, memories, messages, plans, runs, threads
from api.http.routes.servers import assistants
from api.http.routes.servers import definitions as servers
from api.runs.audit import RunAudit
from graph.links.allowlist import HostAllowlist
from graph.links.filter import LinkFilter
from graph.links.text_fields import cleaned
from tests.hostile import HOSTILE, hostile_sample, live_paths

if TYPE_CHECKING:
    from fastapi import APIRouter

PARTS = (chat, runs, approvals, grants, threads, branches, plans, memories, servers, assistants, messages)
ROUTERS = cast("list[APIRouter]", [part.router for part in PARTS])
ROUTES = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
ANSWERS = {route.response_model for route in ROUTES if route.response_model}
PRODUCT = {"tool_call_id", "item_id", "file_id", "uri", "address", "etag", "code", "grant_kind", "action", "versions"}
DATA = {"args", "args_schemas", "decisions"}
OF_A_SERVER = {"name", "base_url", "command", "disabled_tools", "auto_approve_tools"}
OF_A_PROMPT = {"name", "arguments", "required"}
OF_A_TOOL = {"server_name", "name", "input_schema", "before", "after", "uri"}
OF_A_CALL = {"id", "serverId", "arguments"}
OF_A_QUESTION = {"server_id", "schema", "url", "host", "editable"}
OF_AN_ASSISTANT = {"name", "description", "instructions", "drive_tools"}


def clean(view: BaseModel) -> BaseModel:
    return cleaned(type(view), view, LinkFilter(HostAllowlist()).clean)


def test_every_route_of_the_service_goes_through_the_seam() -> None:
    assert all(isinstance(route, FilteredRoute) for route in ROUTES)
    assert len(ROUTES) > 25
    assert {schemas.ThreadView, schemas.PlanView, schemas.ApprovalView, RunAudit} <= ANSWERS


@pytest.mark.parametrize("answer", sorted(ANSWERS, key=str), ids=lambda answer: answer.__name__)
def test_a_hostile_text_in_any_field_of_an_answer_leaves_inert(answer: type[BaseModel]) -> None:
    exact: dict[type[BaseModel], set[str]] = {
        schemas.RunContextView: {"text", "tool_calls"},
        schemas.ResultView: {"text"},
        schemas.VersionsOfMessage: {"text", "message_id"},
        schemas.ThreadView: {"text", *OF_A_CALL, *OF_A_QUESTION},
        **dict.fromkeys((schemas.ApprovalView, schemas.ApprovalList), OF_A_QUESTION),
        **dict.fromkeys((schemas.ChangeList, schemas.UndoView), OF_A_CALL),
        RunAudit: {"args", "result", "message"},
        **dict.fromkeys((server_schemas.ServerView, server_schemas.ServerList), OF_A_SERVER),
        server_schemas.ToolList: OF_A_TOOL,
        server_schemas.ConnectionView: OF_A_TOOL | OF_A_PROMPT,
        server_schemas.ImportView: {"name", "missing"},
        **dict.fromkeys((server_schemas.AssistantView, server_schemas.AssistantList), OF_AN_ASSISTANT),
    }
    assert live_paths(clean(hostile_sample(answer))) <= PRODUCT | DATA | exact.get(answer, set())


@pytest.mark.parametrize("role", get_args(schemas.MessageView.__annotations__["role"]))
def test_only_the_texts_of_the_person_and_of_tools_stay(role: str) -> None:
    view = clean(hostile_sample(schemas.MessageView).model_copy(update={"role": role}))
    assert ("text" in live_paths(view)) == (role != "assistant")
    assert dict(view).keys() == schemas.MessageView.model_fields.keys()
    assert HOSTILE not in str(dict(view)["name"])
