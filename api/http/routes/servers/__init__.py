"""Routes about MCP servers and assistants: defined, signed in to, and what they offer."""
