"""Items in the tree as one person sees them: names, ancestors, roles, pages in the order of names.

May import `kernel` and `storage`.
"""
