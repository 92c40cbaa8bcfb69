"""Files and folders in the tree: create, move, copy, trash, restore, delete.

May import `services.journal` and `services.tree`.
"""
