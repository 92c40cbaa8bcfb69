"""The names of spans and attributes, by OpenTelemetry's semantic conventions (HTTP, databases, MCP, generative AI).

Those of generative AI (v0.1.0) and MCP are in development: a change of theirs is a change of this module.
"""

from typing import Final

ERROR_TYPE: Final = "error.type"

HTTP_METHOD: Final = "http.request.method"
HTTP_STATUS: Final = "http.response.status_code"
HTTP_OPERATION: Final = "drive_agent.operation"
"""Ours: the operation as metrics and the log name it; routers know only the end of their routes."""

DATABASE_SYSTEM: Final = "db.system.name"
TRANSACTION: Final = "transaction"
"""Ours: a change of the database, with its wait for its turn; the conventions name single statements."""

MCP_METHOD: Final = "mcp.method.name"

OPERATION: Final = "gen_ai.operation.name"
INVOKE_AGENT: Final = "invoke_agent"
CHAT: Final = "chat"
EXECUTE_TOOL: Final = "execute_tool"
AGENT_NAME: Final = "gen_ai.agent.name"
MODEL: Final = "gen_ai.request.model"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"

RUN: Final = "run"
"""Ours: a turn's work at one process, until it ends or waits for a person."""

RUN_ID: Final = "drive_agent.run.id"
"""Ours: the id under which the audit knows the run."""
