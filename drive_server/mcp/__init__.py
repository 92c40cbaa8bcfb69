"""The drive as an MCP server, for every transport. May import `drive`, `services` and what they rest on."""
