"""Texts of documents: their sentences, what they say most, and edits of them."""
