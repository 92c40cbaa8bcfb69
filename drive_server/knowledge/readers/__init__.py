"""From a file to its text: one reader a format, and the processes they run in.

May import `knowledge.formats`, `knowledge.text` and `knowledge.chunk`. A reader is called by its row in the formats.
"""
