"""Who takes a turn: patterns in both languages, staying with the last specialist, then a model.

May import `limits` and `models`.
"""
