"""Readers of office documents, one module or folder a format; `markup` is their common part.

May import `knowledge.text`, `readers.archive`, `readers.compound`, `readers.contained` and `readers.source.html`.
"""
