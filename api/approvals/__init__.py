"""Approvals: questions that wait for a person, answered once. May import `events` and `storage`."""
