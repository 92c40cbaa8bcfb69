"""One request by itself: answered by the handlers of the protocol's sessions, and shown as this revision has it."""

from collections.abc import Mapping
from typing import Any, Final

from mcp.types import (
    CallToolRequest,
    CompleteRequest,
    ErrorData,
    GetPromptRequest,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    ListPromptsRequest,
    ListResourcesRequest,
    ListResourceTemplatesRequest,
    ListToolsRequest,
    ReadResourceRequest,
)
from starlette.requests import Request

from drive_server.kernel.access import Principal
from drive_server.kernel.sql.database import Database
from drive_server.mcp.protocol.messages import VERSION
from drive_server.mcp.protocol.requests import Refusal, checked
from drive_server.mcp.protocol.revisions import REVISION, SUPPORTED, stated_revision, unsupported
from drive_server.mcp.sdk import written
from drive_server.mcp.server import INSTRUCTIONS, DriveServer
from drive_server.mcp.stateless.envelope import (
    TASKS,
    Envelope,
    RequestRefusedError,
    envelope_of,
    lacks_tasks,
    unknown_method,
)
from drive_server.mcp.stateless.questions import RESPONSES, STATE, CallQuestions, Questions
from drive_server.mcp.stateless.results import INPUT_REQUIRED, TYPE, shown, shown_error
from drive_server.mcp.stateless.session import RequestSession, Sink
from drive_server.mcp.tasks.extension import DetailedTaskRequest, DirectedCall, StopTaskRequest, UpdateTaskRequest

DISCOVER: Final = "server/discover"
LISTEN: Final = "subscriptions/listen"
CALL: Final = "tools/call"
UPDATE_TASK: Final = "tasks/update"
NOT_PASSED_ON: Final = frozenset({STATE, RESPONSES, "task"})
"""Parameters for the session, and one of another revision: which calls become tasks is the server's choice here."""
KINDS: Final[Mapping[str, type[Any]]] = {
    CALL: CallToolRequest,
    "tools/list": ListToolsRequest,
    "resources/list": ListResourcesRequest,
    "resources/templates/list": ListResourceTemplatesRequest,
    "resources/read": ReadResourceRequest,
    "prompts/list": ListPromptsRequest,
    "prompts/get": GetPromptRequest,
    "completion/complete": CompleteRequest,
    "tasks/get": DetailedTaskRequest,
    UPDATE_TASK: UpdateTaskRequest,
    "tasks/cancel": StopTaskRequest,
}


class StatelessServer:
    """The drive's MCP server for requests without a session. It keeps nothing between two requests."""

    def __init__(self, server: DriveServer, database: Database, answer_seconds: float) -> None:
        self.drive = server
        self.options = server.protocol.create_initialization_options()
        self.identity: dict[str, Any] = {"name": self.options.server_name, "version": self.options.server_version}
        self._questions = Questions(database, answer_seconds)

    def read(self, root: JSONRPCRequest) -> Envelope:
        """Return the envelope of a request. Raises `RequestRefusedError` for one that this revision does not have."""
        envelope = envelope_of(root.params)
        revision = stated_revision(root.params)
        if revision != REVISION:
            raise RequestRefusedError(400, unsupported(revision))
        if root.method not in KINDS and root.method not in {DISCOVER, LISTEN}:
            raise unknown_method()
        if root.method.startswith("tasks/") and not envelope.takes_tasks:
            raise lacks_tasks()
        return envelope

    def questions(self, root: JSONRPCRequest, caller: Principal) -> CallQuestions:
        """Return the questions of a call. Raises `RequestRefusedError` for a `requestState` that is not of it."""
        return self._questions.of_call(caller, root.method, root.params or {})

    async def answer(
        self, root: JSONRPCRequest, envelope: Envelope, questions: CallQuestions, http: Request, sink: Sink
    ) -> JSONRPCMessage:
        """Answer a request that was read; notifications before the answer go to the sink."""
        if root.method == DISCOVER:
            return self.result(root, self._discovered())
        params = root.params or {}
        request = self._request(root.method, params, envelope)
        if isinstance(request, Refusal):
            return self.failure(root, request.error)
        session = RequestSession(self.options, envelope, http, sink, questions)
        try:
            answered = await self.drive.protocol.answer_alone(request.root, session, root.id, http)
        finally:
            session.discard()
        if session.asked is not None:
            return self.result(root, {TYPE: INPUT_REQUIRED, **session.asked})
        return self.failure(root, answered) if isinstance(answered, ErrorData) else self.result(root, written(answered))

    def failure(self, root: JSONRPCRequest, error: ErrorData) -> JSONRPCMessage:
        """Return the answer with an error."""
        return JSONRPCMessage(JSONRPCError(jsonrpc=VERSION, id=root.id, error=shown_error(error, root.params or {})))

    def as_shown(self, root: JSONRPCRequest, answer: JSONRPCMessage) -> JSONRPCMessage:
        """Return an answer that was made for another revision as this one has it."""
        found = answer.root
        return self.result(root, found.result) if isinstance(found, JSONRPCResponse) else answer

    def _request(self, method: str, params: Mapping[str, Any], envelope: Envelope) -> Any:
        kind = KINDS[method]
        if method == CALL and envelope.takes_tasks and self.drive.can_be_task(str(params.get("name"))):
            kind = DirectedCall
        kept_back = frozenset[str]() if method == UPDATE_TASK else NOT_PASSED_ON
        passed_on = {name: value for name, value in params.items() if name not in kept_back}
        found = checked(kind, {"method": method, "params": passed_on}, REVISION)
        if kind is DirectedCall and not isinstance(found, Refusal):
            self.drive.fill_in(found.root)  # pyright: ignore[reportArgumentType] - `checked` made it of this kind
        return found

    def result(self, root: JSONRPCRequest, result: dict[str, Any]) -> JSONRPCMessage:
        """Return the answer with a result."""
        shown_result = shown(root.method, result, self.identity)
        return JSONRPCMessage(JSONRPCResponse(jsonrpc=VERSION, id=root.id, result=shown_result))

    def _discovered(self) -> dict[str, Any]:
        capabilities = self.options.capabilities.model_dump(
            by_alias=True, mode="json", exclude_none=True, exclude={"tasks", "experimental"}
        )
        return {
            "supportedVersions": list(SUPPORTED),
            "capabilities": {**capabilities, "extensions": {TASKS: {}}},
            "instructions": INSTRUCTIONS,
        }
