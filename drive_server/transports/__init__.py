"""How the server is run: stdio, the HTTP runner, shutdown. May import `connect` and `mcp`."""
