"""The specialists: one shared node, and a module and a prompt for each.

May import `tools`, `memory`, `limits`, `models`, `policy`.
"""
