"""`drive-agent servers` and `assistants`: a person's MCP servers, and who uses them.

May import the same as `commands`.
"""
