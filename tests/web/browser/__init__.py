"""Stories in a real browser over the real service."""
