"""Run the server: stdio, HTTP, the process. May import `connect` and `mcp`."""
