"""Messages of an MCP client over stdio."""

from tests.handshake import INTRODUCTION

WHOAMI = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INTRODUCTION},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}},
]
"""The messages of a client that calls one tool."""
