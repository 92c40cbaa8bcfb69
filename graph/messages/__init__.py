"""The messages of a thread: grouped, windowed, cut to excerpts, counted in tokens.

May import `events`, `state`, `link_filter`.
"""
