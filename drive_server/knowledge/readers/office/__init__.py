"""Readers of office documents, one module a format. May import `knowledge.text` and `readers.archive`."""
