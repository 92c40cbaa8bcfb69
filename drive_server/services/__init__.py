"""The drive's semantics, without any protocol.

May import `access`, `errors`, `models`, `context`, `settings`, `signing`, `clock`, `storage` and `knowledge`.
"""
