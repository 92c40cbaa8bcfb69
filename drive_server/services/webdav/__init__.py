"""The state that WebDAV has beside the tree: locks and dead properties, shared by all processes of the drive.

May import `services.tree`.
"""
