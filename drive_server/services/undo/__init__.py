"""Undo and redo of recorded changes and of whole runs.

May import `services.files`, `services.sharing` and `services.journal`.
"""
