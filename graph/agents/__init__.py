"""The specialists: one shared node and text, and a module and a role for each.

May import `tools`, `memory`, `limits`, `models`, `policy`.
"""
