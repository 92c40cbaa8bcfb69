"""Messages of an MCP client over stdio."""

INTRODUCTION = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
WHOAMI = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INTRODUCTION},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}},
]
"""The messages of a client that calls one tool."""
