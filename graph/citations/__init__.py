"""Quotations in an answer, checked against the versions that were read. May import `drive` and `messages`."""
