"""MCP's Streamable HTTP at `/mcp` (MCP 2025-11-25, basic/transports). May import `mcp` and the rest of `http`."""
