"""Search by name, by words and by meaning, within the items that the caller may see.

May import `services.tree` and `knowledge`.
"""
