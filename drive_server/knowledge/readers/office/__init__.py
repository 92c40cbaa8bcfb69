"""Readers of office documents, one module a format.

May import `knowledge.text` `readers.archive`, `readers.compound` and `readers.source.html`.
"""
