"""Readers of text files: plain, Markdown, HTML, code, data. May import `knowledge.text`."""
