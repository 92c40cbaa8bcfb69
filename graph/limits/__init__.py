"""Limits on what a turn does and spends. May import `policy` and `messages`."""
