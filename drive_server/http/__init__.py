"""The drive over HTTP: bytes, lists, login, pages for people, and MCP's Streamable HTTP.

May import `connect`, `mcp` and `services`.
"""
