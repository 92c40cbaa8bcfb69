"""The index in a process of its own: LanceDB takes some 200 MB, which a service that nobody searches gives back.

May import `knowledge.index`, `knowledge.embedding` and `knowledge.process`.
"""
