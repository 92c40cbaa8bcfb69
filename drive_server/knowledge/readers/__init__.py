"""From a file to its text: formats, readers, and the process they run in.

May import `knowledge.text` and `knowledge.chunk`.
"""
