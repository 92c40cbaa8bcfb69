"""Routes about MCP servers and assistants: their definitions, sign-ins, and offers."""
