"""The MCP tools, one module a group. May import `mcp.calls` and `mcp.results`."""
