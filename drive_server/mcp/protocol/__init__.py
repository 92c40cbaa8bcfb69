"""The protocol's own side of the MCP server: sessions, requests, lists, subscriptions, logging, tasks, limits."""
