"""The drive as the assistant reaches it: MCP sessions, and changes in words.

The one room that imports `drive_server`.
"""
