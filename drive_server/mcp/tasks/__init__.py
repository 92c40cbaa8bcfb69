"""MCP tasks: calls whose results are fetched later. May import `mcp.calls` and `mcp.protocol`."""
