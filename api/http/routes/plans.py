"""The plan of a thread: read, edit, pause, resume and stop it."""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from api.drive import Principal
from api.errors import InvalidRequestError
from api.http.dependencies import CallerDep, ServiceDep, WriterDep
from api.http.filtered_route import FilteredRoute
from api.http.requests import PlanPatch
from api.http.schemas import PlanView
from api.plans import OVER
from api.service import Service
from api.storage.tables import PlanRow
from api.withholding import withhold_texts
from drive_server.kernel.http.problem import problem_responses
from graph.language import language_of
from graph.planning.commands import PlanCommand

router = APIRouter(prefix="/threads/{thread_id}/plan", tags=["plans"], route_class=FilteredRoute)


@router.get("", responses=problem_responses(403, 404))
async def get_plan(thread_id: str, caller: CallerDep, service: ServiceDep, response: Response) -> PlanView:
    """Return the newest plan of a thread. Its version is the `ETag`."""
    return await _answer(await service.plans.get(caller, thread_id), caller, service, response)


@router.patch("", responses=problem_responses(403, 404, 409))
async def edit_plan(
    thread_id: str,
    body: PlanPatch,
    caller: WriterDep,
    service: ServiceDep,
    response: Response,
    if_match: Annotated[str | None, Header(description="The version that was seen, instead of `version`.")] = None,
) -> PlanView:
    """Replace the steps that have not begun with this list, in this order.

    A step that is left out is removed; a step without an id of the plan is new. 409 `plan_changed` if somebody else was
    faster, or a step of the list has begun; 422 `invalid_plan` with the `problems` of steps that can't be carried out.
    """
    version = body.version if body.version is not None else _version_in(if_match)
    edits = [step.to_edit() for step in body.steps]
    return await _answer(await service.plans.edit(caller, thread_id, version, edits), caller, service, response)


@router.post("/pause", responses=problem_responses(403, 404, 409))
async def pause_plan(thread_id: str, caller: WriterDep, service: ServiceDep, response: Response) -> PlanView:
    """Pause the plan after the running step, until you resume or stop it, also over restarts."""
    return await _command(thread_id, "pause", caller, service, response)


@router.post("/resume", responses=problem_responses(403, 404, 409))
async def resume_plan(thread_id: str, caller: WriterDep, service: ServiceDep, response: Response) -> PlanView:
    """Resume the plan."""
    return await _command(thread_id, "run", caller, service, response)


@router.post("/stop", responses=problem_responses(403, 404, 409))
async def stop_plan(thread_id: str, caller: WriterDep, service: ServiceDep, response: Response) -> PlanView:
    """Stop the plan after the running step: the other steps are skipped, and its changes stay.

    `POST /api/runs/{run_id}/cancel` ends the running step, too.
    """
    return await _command(thread_id, "stop", caller, service, response)


async def _command(
    thread_id: str, command: PlanCommand, caller: Principal, service: Service, response: Response
) -> PlanView:
    return await _answer(await service.plans.command(caller, thread_id, command), caller, service, response)


async def _answer(row: PlanRow, caller: Principal, service: Service, response: Response) -> PlanView:
    response.headers["etag"] = f'"{row.version}"'
    run = await service.runs.get(caller, row.run_id)
    over = run.finished_at is not None and row.status not in OVER
    steps = row.plan["steps"]
    # Of the thread, not of the run: a plan that waited for an answer goes on in the next run.
    if await service.withholding.hidden_items(caller, row.thread_id):
        steps = withhold_texts(steps, language_of(run.message))
    return PlanView(
        plan_id=row.plan["plan_id"],
        thread_id=row.thread_id,
        run_id=row.run_id,
        version=row.version,
        status="interrupted" if over else row.status,  # pyright: ignore[reportArgumentType] - the model checks the word
        wanted=row.plan.get("wanted", "run"),
        steps=steps,
        contract=row.plan.get("contract"),
    )


def _version_in(if_match: str | None) -> int:
    text = (if_match or "").strip().removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidRequestError("no_version")
    return int(text)
