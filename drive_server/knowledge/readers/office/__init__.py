"""Readers of office documents, one module or folder a format; `markup` is what they have in common.

May import `knowledge.text`, `readers.archive`, `readers.compound`, `readers.contained` and `readers.source.html`.
"""
