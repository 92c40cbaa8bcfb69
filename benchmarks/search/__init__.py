"""Measure search, indexing and the reading of files: their quality and their speed."""
