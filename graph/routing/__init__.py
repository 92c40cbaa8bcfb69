"""Choose the specialist of a turn: patterns in both languages, stickiness, then a model.

May import `limits` and `models`.
"""
