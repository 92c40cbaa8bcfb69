"""A person's own MCP servers: their definitions, and the connections to them.

It may import `errors`, `policy` and `settings`, and of the drive its rate limiter. Nothing here reads a database: the
definitions come from the service.
"""
