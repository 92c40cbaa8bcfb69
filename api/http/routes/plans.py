"""The plan of a thread: see it, change what has not begun, pause, resume and stop it."""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from api.drive import Principal
from api.errors import InvalidInputError, MissingScopeError
from api.http.deps import CallerDep, PlansDep, RunsDep
from api.http.problems import problem_responses
from api.http.schemas import PlanPatch, PlanView
from api.plans import OVER, Plans
from api.runs.service import Runs
from api.storage.tables import PlanRow
from graph.planning.commands import Wish

router = APIRouter(prefix="/threads/{thread_id}/plan", tags=["plans"])


@router.get("", responses=problem_responses(404))
async def get_plan(thread_id: str, caller: CallerDep, plans: PlansDep, runs: RunsDep, response: Response) -> PlanView:
    """Return the newest plan of a thread. Its version is the `ETag`."""
    return await _answer(await plans.get(caller, thread_id), caller, runs, response)


@router.patch("", responses=problem_responses(403, 404, 409))
async def edit_plan(
    thread_id: str,
    body: PlanPatch,
    caller: CallerDep,
    plans: PlansDep,
    runs: RunsDep,
    response: Response,
    if_match: Annotated[str | None, Header(description="The version that was seen, instead of `version`.")] = None,
) -> PlanView:
    """Change the steps that have not begun: the list is what they are from now on, in this order.

    A step that is left out is removed; one without an id of the plan is new. 409 `plan_changed` if somebody else was
    faster, or a step of the list has begun; 422 `invalid_plan` with the `problems` for what can't be carried out.
    """
    _require_write(caller)
    version = body.version if body.version is not None else _version_in(if_match)
    edits = [step.to_edit() for step in body.steps]
    return await _answer(await plans.edit(caller, thread_id, version, edits), caller, runs, response)


@router.post("/pause", responses=problem_responses(403, 404, 409))
async def pause(thread_id: str, caller: CallerDep, plans: PlansDep, runs: RunsDep, response: Response) -> PlanView:
    """Let the plan wait after the step that is running; it waits as long as it takes, over restarts too."""
    return await _want(thread_id, "pause", caller, plans, runs, response)


@router.post("/resume", responses=problem_responses(403, 404, 409))
async def resume(thread_id: str, caller: CallerDep, plans: PlansDep, runs: RunsDep, response: Response) -> PlanView:
    """Let the plan go on."""
    return await _want(thread_id, "run", caller, plans, runs, response)


@router.post("/stop", responses=problem_responses(403, 404, 409))
async def stop(thread_id: str, caller: CallerDep, plans: PlansDep, runs: RunsDep, response: Response) -> PlanView:
    """End the plan after the step that is running: the other steps are skipped, what was done stays.

    `POST /api/runs/{run_id}/cancel` ends the running step, too.
    """
    return await _want(thread_id, "stop", caller, plans, runs, response)


async def _want(
    thread_id: str, wish: Wish, caller: Principal, plans: Plans, runs: Runs, response: Response
) -> PlanView:
    _require_write(caller)
    return await _answer(await plans.want(caller, thread_id, wish), caller, runs, response)


async def _answer(row: PlanRow, caller: Principal, runs: Runs, response: Response) -> PlanView:
    response.headers["etag"] = f'"{row.version}"'
    run = await runs.get(caller, row.run_id)
    over = run.finished_at is not None and row.status not in OVER
    return PlanView(
        plan_id=row.plan["plan_id"],
        thread_id=row.thread_id,
        run_id=row.run_id,
        version=row.version,
        status="interrupted" if over else row.status,  # pyright: ignore[reportArgumentType] - the model checks the word
        wanted=row.plan.get("wanted", "run"),
        steps=row.plan["steps"],
        contract=row.plan.get("contract"),
    )


def _version_in(if_match: str | None) -> int:
    text = (if_match or "").strip().removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInputError("It is not said which version of the plan was seen.", hint="Send `version`.")
    return int(text)


def _require_write(caller: Principal) -> None:
    if "write" not in caller.scopes:
        raise MissingScopeError("write")
