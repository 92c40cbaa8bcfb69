"""`drive-agent serve` and `mcp`, and how commands find a running service."""
