"""Readers of text that is its own source: plain, Markdown, HTML, code, data. May import `knowledge.text`."""
