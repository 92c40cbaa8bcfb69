"""The messages of a thread: written, grouped, windowed, stored beside it, withheld, counted in tokens.

May import `policy`, `events`, `state`, `links`.
"""
