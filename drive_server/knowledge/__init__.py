"""Everything between a file's bytes and a search result.

May import `storage`, `errors`, `models`, `settings`; no service.
"""
