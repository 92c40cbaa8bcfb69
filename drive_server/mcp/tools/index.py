"""The tools for the search index: how far files can be searched, and reading them anew."""

from time import monotonic
from typing import Annotated, Final

from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from drive_server.kernel.access import Actor, Scope, require_person, require_scope
from drive_server.knowledge.ingest.ingester import IndexWatch
from drive_server.mcp import icons
from drive_server.mcp.calls.call import Call, answer
from drive_server.mcp.tools.definition.arguments import FolderRef, OptionalFolderRef
from drive_server.mcp.tools.definition.spec import BRINGS_BACK, READS, ToolGroup, ToolSpec
from drive_server.mcp.tools.definition.texts import counted
from drive_server.models.search import IndexHealthState, IndexStatus
from drive_server.services.progress import Progress
from drive_server.services.tree.names import display_name

MAX_WAIT_SECONDS = 50
"""Below the minute after which many hosts give a call up."""
MAX_PROBLEMS = 10
HEALTH: Final[dict[str, str]] = {
    "rebuilding": "The index was damaged and is being built anew.",
    "degraded": "The index is damaged, and building it anew failed: searches find names only.",
}

Wait = Annotated[
    int, Field(ge=0, le=MAX_WAIT_SECONDS, description="Wait at most this many seconds until all files can be searched.")
]


class IndexResult(BaseModel):
    """The caller's files by state, and those that could not be read, with the reason.

    `summary` has the same in five words: pending, indexing, indexed, skipped, failed. `awaiting_vectors` counts
    passages that are found by their words, and not by their meaning yet. `health` is `rebuilding` or `degraded` while
    the index, which was damaged, is built anew, or can't be.
    """

    counts: dict[str, int]
    summary: dict[str, int]
    problems: list[dict[str, str]]
    awaiting_vectors: int = 0
    health: IndexHealthState = "ok"

    @classmethod
    def of(cls, state: IndexStatus, most_problems: int | None = None) -> "IndexResult":
        """Return the state as it is on the wire, with so many of the problems, None for all."""
        return cls(
            counts=state.counts,
            summary=state.summary,
            problems=list(state.problems[:most_problems]),
            awaiting_vectors=state.awaiting_vectors,
            health=state.health,
        )


class IndexTools(ToolGroup):
    """Tell how far files can be searched, and have them read anew."""

    icon = icons.SEARCH
    label = "index"

    @ToolSpec(Scope.READ, "query", "low", READS, can_be_task=True)
    async def get_index_status(
        self, call: Call, folder_id: OptionalFolderRef = None, wait_seconds: Wait = 0
    ) -> Annotated[CallToolResult, IndexResult]:
        """Tell how many of the person's files can be searched by their text, and which can't, with the reason.

        Use when: a search finds less than it should, or the person asks whether their files, or those below
        `folder_id`, are read yet.
        Not for: one file (get_file_info has its `index_state`).
        Notes: `summary` counts pending, indexing, indexed, skipped and failed files. Chinese, Japanese and Korean are
        found by their words first, and by their meaning when `awaiting_vectors`, which counts passages, is 0. With
        `wait_seconds` it reports progress until all are read. `reindex` has files read again.
        """
        actor = await call.actor()
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        folder = folder_id
        read = None if folder is None else lambda: self._drive.folder_index.status(actor, folder)
        watch = IndexWatch(self._drive.ingester, actor.user_id, read)
        status = await _followed(watch, wait_seconds, call.progress)
        return answer(actor, _summary(status), _result(actor, status), _problems(status))

    @ToolSpec(Scope.WRITE, "execution", "low", BRINGS_BACK)
    async def reindex(self, call: Call, folder_id: FolderRef) -> Annotated[CallToolResult, IndexResult]:
        """Have all files below a folder read anew for search, in the background.

        Use when: get_index_status shows files that failed, or searches miss texts of the folder's files.
        Not for: files that were just changed or added, which are read anyway (get_index_status waits for them).
        Notes: files and their versions stay as they are. Until a file is read it may not be found by its text, so take
        the smallest folder that will do; `root` is the whole drive. It needs the role editor.
        """
        actor = await call.actor()
        count = await self._drive.folder_index.rebuild(actor, folder_id)
        status = await self._drive.folder_index.status(actor, folder_id)
        return answer(actor, f"{counted(count, 'file')} to be read anew.", _result(actor, status), _report(status))


async def _followed(watch: IndexWatch, seconds: float, report: Progress) -> IndexStatus:
    """Return the status when nothing is waiting any more, or when the time is over."""
    ends_at = monotonic() + seconds
    status = await watch.poll() or IndexStatus()
    total = 0
    while True:
        total = max(total, status.unfinished)
        await report(total - status.unfinished, total)
        left = ends_at - monotonic()
        news = await watch.next(left) if status.unfinished and left > 0 else None
        if news is None:
            return status
        status = news


def _summary(status: IndexStatus) -> str:
    counts = ", ".join(f"{count} {state}" for state, count in status.summary.items() if count)
    files = f"Files: {counts}." if counts else "There are no files."
    waiting = counted(status.awaiting_vectors, "passage")
    late = f"{waiting} can be found by words, and not by meaning yet." if status.awaiting_vectors else ""
    return " ".join(part for part in (files, late, HEALTH.get(status.health)) if part)


def _result(actor: Actor, status: IndexStatus) -> IndexResult:
    return IndexResult.of(status, None if actor.whole_results else MAX_PROBLEMS)


def _report(status: IndexStatus) -> str:
    return "\n".join(part for part in (_summary(status), _problems(status)) if part)


def _problems(status: IndexStatus) -> str:
    problems = status.problems[:MAX_PROBLEMS]
    text = [f"- {display_name(one['path'])} (id {one['file_id']}, {one['state']}): {one['reason']}" for one in problems]
    left = len(status.problems) - len(text)
    return "\n".join([*text, f"And {counted(left, 'more file')}."] if left else text)
