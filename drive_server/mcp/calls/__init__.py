"""One call of a tool: who makes it, consent, progress, logs, sampling. May import `mcp.results`."""
