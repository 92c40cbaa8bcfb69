"""How much a turn may do and spend. May import `policy` and `messages`."""
