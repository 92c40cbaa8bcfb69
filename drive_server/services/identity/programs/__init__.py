"""Programs that sign in by OAuth: how they are known, and the access that people grant them. May import `identity`."""
