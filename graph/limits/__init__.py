"""Limits on the actions and the spending of a turn. May import `policy` and `messages`."""
