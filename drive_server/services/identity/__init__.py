"""People and how they prove who they are: users, keys, tokens, sessions, sign-ins. May import `services.tree`."""
