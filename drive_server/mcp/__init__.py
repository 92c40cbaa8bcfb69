"""The drive as an MCP server, for every transport.

May import `drive`, `services` and the packages that they rest on.
"""
