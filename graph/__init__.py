"""The assistant: a LangGraph graph that works in the drive over MCP.

Imports `drive_server` in one place, `graph.drive.connections`.
"""
