"""The record of every change: done once per key, stored in its transaction, seen by those concerned.

May import `services.tree` and `services.text`.
"""
