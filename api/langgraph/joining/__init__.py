"""Streams of a whole thread: the events of all its runs, also of later ones. May import `runs` and below."""
