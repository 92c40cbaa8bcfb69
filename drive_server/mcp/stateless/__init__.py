"""MCP 2026-07-28: each request by itself, without a session, answered by the code that answers those of sessions.

It knows no transport: requests come in as JSON-RPC, and notifications before an answer go to a `Sink`.
"""
