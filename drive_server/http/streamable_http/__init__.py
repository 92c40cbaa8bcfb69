"""MCP's Streamable HTTP at `/mcp`, with sessions (2025-11-25) and without (2026-07-28).

May import `mcp` and the rest of `http`.
"""
