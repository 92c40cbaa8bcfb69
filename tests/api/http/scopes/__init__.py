"""Every route of the composed application: the scopes that it needs, and who may not ask it."""
