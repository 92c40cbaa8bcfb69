"""The record of every change: done once per key, stored in its transaction, seen by whom it concerns.

May import `services.tree` and `services.text`.
"""
