"""People's own MCP servers, and the assistants that choose among them. May import `storage`, `errors`, `drive`."""
