"""The passages in LanceDB: stored, maintained, queried and ranked.

May import `knowledge.embedding`, `knowledge.text` and `knowledge.chunk`.
"""
