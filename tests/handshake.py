"""The first request of an MCP client, and the headers that all its requests over HTTP have."""

VERSION = "2025-11-25"
INTRODUCTION = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INTRODUCTION}
HEADERS = {"Accept": "application/json, text/event-stream"}
