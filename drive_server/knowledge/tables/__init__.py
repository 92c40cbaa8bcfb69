"""Tables in files: cells, headers, numbers and dates, and questions to them that DuckDB answers exactly.

Runs in a reader's process. May import `readers` and `text`.
"""
