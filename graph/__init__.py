"""The assistant: a LangGraph graph that works in the drive over MCP.

Imports `drive_server.kernel`, and the rest of the drive in one place, `graph.drive.connections`.
"""
