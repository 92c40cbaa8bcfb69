"""Search by name, by words and by meaning, within what the caller may see.

May import `services.tree` and `knowledge`.
"""
