"""Saves of programs that write another file and rename it: recognised, and made a new version of the file itself.

May import `services.documents`, `services.files`, `services.journal`, `services.webdav` and `services.tree`.
"""
