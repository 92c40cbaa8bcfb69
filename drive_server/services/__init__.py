"""The drive's semantics, without any protocol.

May import `kernel`, `models`, `storage` and `knowledge`.
"""
