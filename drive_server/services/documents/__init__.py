"""Contents of files: read, write, patch, compare, quote, hand out.

May import `services.files`, `services.journal` and `services.text`.
"""
