"""Approvals: what waits for a person, answered once. May import `events` and `storage`."""
