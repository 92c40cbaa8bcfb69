"""Everything between a file's bytes and a search result.

May import `kernel`, `models` and `storage`; no service.
"""
